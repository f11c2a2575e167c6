"""What we use of OpenTelemetry that it still calls private: log records."""

import time
from collections.abc import Mapping

from opentelemetry._logs import SeverityNumber
from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, Context, get_value
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource

SEVERITY = {
    "debug": SeverityNumber.DEBUG,
    "info": SeverityNumber.INFO,
    "warning": SeverityNumber.WARN,
    "error": SeverityNumber.ERROR,
    "critical": SeverityNumber.FATAL,
}


class LogRecords:
    """The log records of one process, sent to a collector in the background."""

    def __init__(self, endpoint: str, resource: Resource, *, timeout: int) -> None:
        self._provider = LoggerProvider(resource=resource)
        self._provider.add_log_record_processor(
            BatchLogRecordProcessor(OTLPLogExporter(endpoint=endpoint, timeout=timeout))
        )

    def emit(
        self,
        name: str,
        level: str,
        text: str,
        attributes: Mapping[str, str | bool | int | float],
        context: Context | None,
    ) -> None:
        """Send one record soon; `context` says of which span it is, if not the current."""
        self._provider.get_logger(name).emit(
            timestamp=time.time_ns(),
            context=context,
            severity_number=SEVERITY.get(level),
            severity_text=level.upper(),
            body=text,
            attributes=attributes,
        )

    def close(self) -> None:
        """Send what is not sent yet."""
        self._provider.shutdown()


def is_exporting() -> bool:
    """Say whether this thread is sending: what it logs would be sent for ever."""
    return bool(get_value(_SUPPRESS_INSTRUMENTATION_KEY))
