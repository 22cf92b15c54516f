package policy

import (
	"context"
	"fmt"
)

// Work is a computation that a plan starts and that runs beside the rounds: a
// pure function of what it closed over. What it returns comes back to the policy
// once, as Snapshot.Computed. It may run while the policy plans further rounds, so
// neither changes what the other reads.
type Work func(ctx context.Context) any

// Do runs w and returns what it does; a panic comes back as an error.
func (w Work) Do(ctx context.Context) (result any) {
	defer func() {
		if r := recover(); r != nil {
			result = fmt.Errorf("background work panicked: %v", r)
		}
	}()
	return w(ctx)
}
