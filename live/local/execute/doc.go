// Package execute makes the processes of this machine equal to the plan. Steps compares what
// runs with what is planned and returns what has to stop and what can start; it is a pure
// function. Launch says how to start a generation, and is pure too.
//
// The order is: release before acquire. A slot is given to a job when no process of another
// is on it any more. So no two jobs are ever on one slot, whatever was planned in between.
// It ends: every step either tells a generation to stop, once, after which its supervisor
// kills it at the deadline, or starts one on slots that nobody is on. Between two plans there
// are at most as many steps as generations run and jobs have slots.
package execute
