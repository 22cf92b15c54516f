// Package driver runs the scheduler over a live backend (Backend). It has what every such backend
// needs: the policy with its fallback, metrics and traces of each round, the journal and its
// digest, predictions of when jobs start and end, and explanations.
//
// A new backend consists of three parts:
//
//   - a type that implements Backend: it observes what runs, and executes what is planned;
//   - a command that makes a Driver (New), opens the Backend, attaches it (Driver.Attach) and
//     runs both (Driver.Run);
//   - the interface for its users, which uses Driver.Story, Driver.Look and Driver.Trouble.
//
// It embeds a Table, which implements most of Backend. The toy backend in the tests of this package is
// the shortest example.
package driver
