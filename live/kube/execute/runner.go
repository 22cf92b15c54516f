package execute

import (
	"context"
	"log/slog"
	"time"
)

// CarryOut takes a step. What fails is tried again later, later each time, and no sooner than the
// API server asks for.
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
}
