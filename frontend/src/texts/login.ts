/** What stands before every screen, and the password. */

export const texts = {
  invitation: {
    welcomeToScrapersky: "Welcome to ScraperSky",
    chooseAPassword: "Choose a password",
    atLeast10Characters: "At least 10 characters.",
    setPasswordAndLogIn: "Set password and log in",
  },
  changePassword: {
    yourPasswordIsChanged: "Your password is changed. Other sessions were ended.",
    changeYourPassword: "Change your password",
    changePassword: "Change password",
    currentPassword: "Current password",
    newPassword: "New password",
    atLeast10Characters: "At least 10 characters.",
  },
  login: {
    yourAccountMayNotUseScrapersky:
      "Your account may not use ScraperSky. Ask an administrator to invite you.",
    loginTookTooLong: "The login took too long, or began in another browser. Please try again.",
    loginThroughTheProviderFailed: "The login through the provider failed. Please try again.",
    logInToScrapersky: "Log in to ScraperSky",
    email: "E-mail",
    password: "Password",
    logIn: "Log in",
    logInWith: (provider: string) => `Log in with ${provider}`,
    orWithEmailAndPassword: "Or with e-mail and password:",
  },
};
