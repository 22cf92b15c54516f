package view

import (
	"context"
	"fmt"
	"strconv"
)

const (
	logLines = 50       // per container
	logBytes = 64 << 10 // per container, and in total
)

// Log returns the last lines of a job's first pod by name. It returns ErrNotFound without a pod, and ErrForbidden
// without the right to pods/log.
func (k *Kubectl) Log(ctx context.Context, s *liveJob) ([]byte, error) {
	if len(s.names) == 0 {
		return nil, fmt.Errorf("%s has no pod: %w", s.ID, ErrNotFound)
	}
	text, err := k.call(ctx, "logs", s.names[0], "-n", s.Namespace, "--all-containers", "--tail="+strconv.Itoa(logLines), "--limit-bytes="+strconv.Itoa(logBytes))
	return text[max(0, len(text)-logBytes):], err
}
