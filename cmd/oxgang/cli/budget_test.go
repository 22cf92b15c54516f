package cli

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestWithBudget: a context ends when the process has used its budget, and only with that cause.
func TestWithBudget(t *testing.T) {
	ctx, cancel := WithBudget(t.Context(), 50*time.Millisecond)
	for sum := 0; ctx.Err() == nil; sum++ { // uses processor time
		_ = sum
	}
	if !errors.Is(context.Cause(ctx), ErrBudget) {
		t.Errorf("cause %v, want %v", context.Cause(ctx), ErrBudget)
	}
	cancel()
	ctx, cancel = WithBudget(t.Context(), time.Hour)
	cancel()
	if !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("cause %v, want %v", context.Cause(ctx), context.Canceled)
	}
}
