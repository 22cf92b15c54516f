// Package explain turns a journal into sentences. It answers what the owner of
// a job asks: why is my job waiting, what would unblock it, when will it start
// (At); why did its size change, and where did its time go (Life).
//
// Every sentence rests on the reason that the policy gave in that round
// (policy.Reason), with its numbers; what a job holds and what is free is
// followed through the recorded actions and events. A recording knows what
// came next, so that where others estimate a start, it is told.
package explain
