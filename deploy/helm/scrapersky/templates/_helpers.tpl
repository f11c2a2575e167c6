{{- define "scrapersky.labels" -}}
app.kubernetes.io/name: scrapersky
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "scrapersky.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "scrapersky.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  fsGroup: 0
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "scrapersky.container" -}}
image: {{ include "scrapersky.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
envFrom:
  - configMapRef: { name: {{ .Release.Name }}-settings }
env:
{{- range .Values.secretKeys }}
  {{- /* Migrating may need another user, and a way past the pooler. */}}
  {{- $key := ternary $.Values.migrate.databaseUrlKey . (and (eq . "DATABASE_URL") (eq $.part "migrate")) }}
  - { name: {{ . }}_FILE, value: /run/secrets/scrapersky/{{ $key }} }
{{- end }}
volumeMounts:
  - { name: secrets, mountPath: /run/secrets/scrapersky, readOnly: true }
  - { name: tmp, mountPath: /tmp }
  - { name: data, mountPath: /data }
{{- end }}

{{- define "scrapersky.volumes" -}}
- name: secrets
  secret: { secretName: {{ .Values.existingSecret }} }
- name: tmp
  emptyDir: {}
- name: data
  emptyDir: {}
{{- end }}
