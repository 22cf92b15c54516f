// Package driver runs the scheduler over a live backend (World). It has what every such backend
// needs: the policy with its fallback, metrics and traces of each round, the journal and its
// digest, predictions of when jobs start and end, and explanations.
//
// A new backend consists of three parts:
//
//   - a type that implements World: it observes what runs, and executes what is planned;
//   - a command that makes a Driver (New), opens the World, attaches it (Driver.Attach) and
//     runs both (Driver.Run);
//   - the interface for its users, which uses Driver.Story, Driver.Look and Driver.Trouble.
//
// With an driver.Queue, Next takes a few lines. The toy world in the tests of this package is
// the shortest example.
package driver
