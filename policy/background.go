package policy

import (
	"context"
	"fmt"
)

// Work is a long computation of a policy that runs in the background, while the policy plans further rounds. Its
// result reaches the policy once, as Snapshot.Computed. It is a pure function of its closure: neither may change what
// the other reads.
type Work func(ctx context.Context) any

// Do runs the computation and returns its result; a panic becomes an error.
func (w Work) Do(ctx context.Context) (result any) {
	defer func() {
		if r := recover(); r != nil {
			result = fmt.Errorf("background work panicked: %v", r)
		}
	}()
	return w(ctx)
}
