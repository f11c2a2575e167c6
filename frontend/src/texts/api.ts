/** What went wrong between the page and the server. */
export const texts = {
  problem: {
    serverAnsweredWithStatus: (status: number) => `The server answered with status ${status}.`,
    serverIsNotResponding: "The server is not responding.",
    checkThatScraperskyIsRunning:
      "Check that ScraperSky is running; this page reconnects by itself.",
    somethingWentWrongOnThisPage: "Something went wrong on this page.",
    reloadThePage: "Reload the page. Your decisions are saved on the server.",
    askAnAdministratorForPermission: "Ask an administrator for permission.",
    itMayHaveBeenDeleted: "It may have been deleted or merged by someone else.",
    someoneElseChanged: "Someone else changed it in the meantime. Check it again.",
    waitAMoment: "Wait a moment, then try again.",
  },
};
