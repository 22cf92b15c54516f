package policy

import (
	"context"
	"fmt"
)

// Work is a long computation that a policy runs in the background while it plans further rounds. The
// scheduler passes its result to the policy once, as Snapshot.Computed. The function must not share data
// that it or the policy modifies.
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
