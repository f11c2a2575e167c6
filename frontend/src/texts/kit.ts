/** The parts that all screens are made of. */
export const texts = {
  wait: {
    loading: "Loading",
  },
  empty: {
    tryAgain: "Try again",
  },
  said: {
    yes: "yes",
    no: "no",
  },
  toast: {
    tryAgain: "Try again",
    messages: "Messages",
    dismiss: "Dismiss",
  },
};
