package execute

import (
	"context"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/oxgang/oxgang/live/kube/jobstate"
)

const start = "start"

// CarryOut tries a step once; a later pass retries it. A job whose start is rejected several times loses its GPUs.
func (w *Writer) CarryOut(ctx context.Context, s *Step) {
	err := s.Do(ctx)
	if err == nil || ctx.Err() != nil {
		return
	}
	w.Mu.Lock()
	defer w.Mu.Unlock()
	w.Options.Log.LogAttrs(ctx, slog.LevelWarn, "a step failed", slog.String("job", s.Job.Parsed.Namespace+"/"+s.Job.Parsed.Name), slog.String("step", s.What), slog.Any("err", err))
	s.Job.FailFor(time.Now(), err)
	s.Job.Trouble = s.What + ": " + err.Error()
	if s.What == start && s.Job.Failures >= jobstate.Tries && (apierrors.IsInvalid(err) || apierrors.IsForbidden(err)) {
		w.GivenUp(s.Job, s.Job.Trouble)
	}
}
