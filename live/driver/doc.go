// Package driver runs the scheduler over a live world. It holds what every such world needs
// and none should copy: the policy with its fallback, metrics and traces of each round, the
// journal and its digest, predictions of when jobs start and end, and explanations.
//
// A new kind of world is three things, and a copy of none:
//
//   - a type that implements World: it observes what runs, and executes what is planned;
//   - a command that makes a Driver (New), opens the world, attaches it (Driver.Attach) and
//     runs both (Driver.Run);
//   - whatever answers its users, from Driver.Story, Driver.Look and Driver.Trouble.
//
// Worlds that keep their events in an eventqueue.Queue have Next for a few lines. The toy
// world in the tests of this package is the shortest example.
package driver
