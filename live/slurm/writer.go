package slurm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

// A Writer sends commands to Slurm, at most PerMinute a minute, and repeats refused ones after a pause. It is safe for
// concurrent use.
type Writer struct {
	Slurm commands
	// PerMinute is the limit of commands per minute.
	PerMinute int
	// Dry logs commands instead of sending them.
	Dry bool
	Log *slog.Logger

	mu      sync.Mutex
	recent  []time.Time
	refused map[key]*refusal
}

type key struct {
	job     client.ID
	command string
}

func keyOf(s *step) key {
	k := key{s.Job, s.Verb.String()}
	for _, f := range s.Settings {
		k.command += " " + f.Name
	}
	return k
}

type refusal struct {
	Message string // Slurm's message
	Times   int    // in a row
	Again   time.Time
	GaveUp  bool
}

// Tries is the number of attempts for a refused step. Pauses start at firstPause and double.
const (
	// tries is the number of attempts for a step that Slurm refuses. The pauses between them start at firstPause and
	// double.
	tries      = 5
	firstPause = 30 * time.Second
)

// Reasons for which a step is not sent.
var (
	errBusy    = errors.New("the limit of commands per minute is reached")
	errRefused = errors.New("refused by Slurm")
)

// Do sends Slurm the commands of one step, a change of one job. It returns ErrBusy at the limit per minute, and
// ErrRefused, wrapped, if Slurm refuses the step or refused it recently. Any other error comes from ctx, or means that
// Slurm does not answer.
func (w *Writer) Do(ctx context.Context, s *step) error {
	k := keyOf(s)
	if err := w.admit(k); err != nil {
		return err
	}
	if w.Dry {
		w.Log.Info("dry run", "command", s.String(), "why", s.Why)
		return nil
	}
	err := s.carry(ctx, w.Slurm)
	if err == nil || ctx.Err() != nil || errors.Is(err, client.ErrUnreachable) || errors.Is(err, client.ErrTimeout) {
		w.accepted(k)
		if err == nil {
			w.Log.Info("sent to Slurm", "command", s.String(), "why", s.Why)
		}
		return err
	}
	return w.reject(k, err)
}

func (w *Writer) admit(k key) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if r := w.refused[k]; r != nil && (r.GaveUp || now.Before(r.Again)) {
		return fmt.Errorf("%w: %s", errRefused, r.Message)
	}
	for len(w.recent) > 0 && now.Sub(w.recent[0]) >= time.Minute {
		w.recent = w.recent[1:]
	}
	if len(w.recent) >= w.PerMinute {
		return errBusy
	}
	w.recent = append(w.recent, now)
	return nil
}

func (w *Writer) accepted(k key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.refused, k)
}

func (w *Writer) reject(k key, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused == nil {
		w.refused = map[key]*refusal{}
	}
	r := w.refused[k]
	if r == nil {
		r = &refusal{}
		w.refused[k] = r
	}
	r.Message, r.Times, r.Again = err.Error(), r.Times+1, time.Now().Add(firstPause<<r.Times)
	r.GaveUp = r.Times >= tries
	if r.Times == 1 || r.GaveUp {
		w.Log.Warn("Slurm refused a command", "command", k.command, "message", r.Message, "times", r.Times, "given up", r.GaveUp)
	}
	return fmt.Errorf("%w: %w", errRefused, err)
}

// Forget deletes the stored refusals of jobs for which keep returns false.
func (w *Writer) Forget(keep func(client.ID) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k := range w.refused {
		if !keep(k.job) {
			delete(w.refused, k)
		}
	}
}
