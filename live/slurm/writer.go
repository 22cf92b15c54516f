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

// A Writer carries steps out. It is safe for concurrent use.
type Writer struct {
	Slurm Commands
	// PerMinute is how many commands are given in a minute at most; 0: none. A step beyond is left for
	// later.
	PerMinute int
	// Dry: steps are logged, and not carried out.
	Dry bool
	Log *slog.Logger
	// Now tells the time. Default time.Now.
	Now func() time.Time

	mu      sync.Mutex
	given   []time.Time // of the last minute
	refused map[key]*Refusal
}

// A key is what a refusal is about: a step that differs only in the values of settings is refused again.
type key struct {
	job     client.ID
	command string
}

// keyOf returns the key of a step, with the names of its settings.
func keyOf(s *Step) key {
	k := key{s.Job, s.Verb.String()}
	for _, f := range s.Settings {
		k.command += " " + f.Name
	}
	return k
}

// A Refusal says that Slurm has refused a step.
type Refusal struct {
	Said  string // Slurm's words
	Times int    // in a row
	Again time.Time
	Given bool // up: it is not tried any more
}

// Tries is how often a step is tried that Slurm refuses; the first pause is firstPause, and each is twice
// as long as the one before.
const (
	Tries      = 5
	firstPause = 30 * time.Second
)

// Why a step was not carried out.
var (
	ErrBusy    = errors.New("the limit of commands per minute is reached")
	ErrRefused = errors.New("refused by Slurm")
)

// Do carries a step out. It returns ErrBusy if the limit does not allow it now, ErrRefused, wrapped,
// with Slurm's words if Slurm refuses it, or has and it is not time yet to try again, and any other
// error if Slurm does not answer.
func (w *Writer) Do(ctx context.Context, s *Step) error {
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
			w.Log.Info("told Slurm", "command", s.String(), "why", s.Why)
		}
		return err
	}
	return w.reject(k, err)
}

// admit returns why a step may not be carried out now.
func (w *Writer) admit(k key) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if r := w.refused[k]; r != nil && (r.Given || now.Before(r.Again)) {
		return fmt.Errorf("%w: %s", ErrRefused, r.Said)
	}
	for len(w.given) > 0 && now.Sub(w.given[0]) >= time.Minute {
		w.given = w.given[1:]
	}
	if len(w.given) >= w.PerMinute {
		return ErrBusy
	}
	w.given = append(w.given, now)
	return nil
}

// accepted records that Slurm did not refuse a step.
func (w *Writer) accepted(k key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.refused, k)
}

// reject records that Slurm refuses a step, and returns that as an error.
func (w *Writer) reject(k key, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused == nil {
		w.refused = map[key]*Refusal{}
	}
	r := w.refused[k]
	if r == nil {
		r = &Refusal{}
		w.refused[k] = r
	}
	r.Said, r.Times, r.Again = err.Error(), r.Times+1, w.now().Add(firstPause<<r.Times)
	r.Given = r.Times >= Tries
	if r.Times == 1 || r.Given {
		w.Log.Warn("Slurm refuses", "command", k.command, "said", r.Said, "times", r.Times, "given up", r.Given)
	}
	return fmt.Errorf("%w: %w", ErrRefused, err)
}

// Refused returns, by job, Slurm's words of steps that it refuses.
func (w *Writer) Refused() map[client.ID]Refusal {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[client.ID]Refusal, len(w.refused))
	for k, r := range w.refused {
		if r.Times >= all[k.job].Times {
			all[k.job] = *r
		}
	}
	return all
}

// Forget drops what is known of jobs of which keep returns false.
func (w *Writer) Forget(keep func(client.ID) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k := range w.refused {
		if !keep(k.job) {
			delete(w.refused, k)
		}
	}
}

func (w *Writer) now() time.Time {
	if w.Now != nil {
		return w.Now()
	}
	return time.Now()
}
