// Package explaintest tests whether explanations are true. It takes the change that an explanation states for a
// waiting job, makes it in a copy of the round's snapshot with independent code, and passes that to a policy and a
// placer that received every earlier round of the run. It has only tests.
package explaintest
