package slurm

import (
	"context"
	"strings"

	"github.com/oxgang/oxgang/live/slurm/client"
)

type verb uint8

// The verbs.
const (
	update verb = iota // changes settings
	Hold
	Release // lets a held job start
	requeuehold
	notice
)

var verbNames = [...]string{"update", "hold", "release", "requeuehold", "notice"}

// String returns the verb, if possible as scontrol's command.
func (v verb) String() string { return verbNames[v] }

type step struct {
	Job      client.ID
	Verb     verb
	Settings []client.Field // of Update
	Why      string
}

func (s *step) String() string {
	words := []string{s.Verb.String(), s.Job.String()}
	for _, f := range s.Settings {
		words = append(words, f.Name+"="+f.Value)
	}
	return strings.Join(words, " ")
}

type commands interface {
	// Update changes settings of a job, all in one request.
	Update(ctx context.Context, id client.ID, fields ...client.Field) error
	// Hold, Release, Requeuehold and Signal work as in scontrol and scancel.
	Hold(ctx context.Context, id client.ID) error
	Release(ctx context.Context, id client.ID) error
	Requeuehold(ctx context.Context, id client.ID) error
	Signal(ctx context.Context, id client.ID, name string, to client.Target) error
}

// noticeSignal is the signal that asks a job to save a checkpoint and to stop.
const noticeSignal = "USR1"

func (s *step) carry(ctx context.Context, to commands) error {
	switch s.Verb {
	case update:
		return to.Update(ctx, s.Job, s.Settings...)
	case Hold:
		return to.Hold(ctx, s.Job)
	case Release:
		return to.Release(ctx, s.Job)
	case requeuehold:
		return to.Requeuehold(ctx, s.Job)
	default:
		return to.Signal(ctx, s.Job, noticeSignal, client.Batch)
	}
}
