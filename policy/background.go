package policy

import (
	"context"
	"fmt"
)

// Work is a computation that a plan starts and that runs in the background. It is a pure function of its
// closure. The policy receives the result once, as Snapshot.Computed. Neither may change what the other
// reads, because the policy plans further rounds meanwhile.
type Work func(ctx context.Context) any

// Do runs w and returns its result; a panic becomes an error.
func (w Work) Do(ctx context.Context) (result any) {
	defer func() {
		if r := recover(); r != nil {
			result = fmt.Errorf("background work panicked: %v", r)
		}
	}()
	return w(ctx)
}
