// Package explaintest tests whether what explanations state is true. It takes the structured change that an
// explanation states for a job that waits, makes it in a copy of the round's snapshot with independent code, and
// passes that to a policy and a placer that were shown every earlier round of the run. It has only tests.
package explaintest
