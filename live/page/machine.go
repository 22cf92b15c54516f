package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A Machine is the Source of the live page for the scheduler of this machine. Times count from 1970.
type Machine struct {
	client   *control.Client
	journals string // directory

	mu   sync.Mutex
	past *past
	due  time.Time // next reading of the journal
}

var (
	_ Source = (*Machine)(nil)
	_ Asker  = (*Machine)(nil)
	_ Actor  = (*Machine)(nil)

	_ retrier = (*Machine)(nil)
)

// NewMachine returns a Machine that reads the scheduler's state through client, and its journals in the directory
// journals.
func NewMachine(client *control.Client, journals string) *Machine {
	return &Machine{client: client, journals: journals}
}

// Live implements Source.
func (*Machine) Live() bool { return true }

// Overview implements Source.
func (m *Machine) Overview(ctx context.Context, _ time.Duration) (*Overview, error) {
	now, err := m.client.Status(ctx, true)
	if err != nil {
		return nil, err
	}
	now.Ended = now.Ended[:min(len(now.Ended), mostEnded)]
	return liveOverview(now), nil
}

const mostEnded = 20

// Job implements Source.
func (m *Machine) Job(ctx context.Context, id job.ID, _ time.Duration) (*Job, error) {
	e, err := m.client.Explain(ctx, id)
	if err != nil {
		return nil, unknownJob(err)
	}
	j := &Job{Moment: e.Story}
	err = m.journal(func(r *journal.Reader) error {
		if j.Life, err = explain.Life(r, id); err == nil {
			j.Begun, j.Life.Note = r.Header().Start, ""
		}
		return err
	})
	if _, absent := errors.AsType[*explain.UnknownJobError](err); absent { // it is in an older journal
		err = nil
	}
	return j, err
}

// Asks implements Asker.
func (*Machine) Asks() bool { return true }

// Ask implements Asker, from the state after the last round.
func (m *Machine) Ask(ctx context.Context, q whatif.Question, _ time.Duration) (*whatif.Answer, error) {
	of := control.Question(q)
	text, err := m.client.Ask(ctx, &of)
	if err != nil {
		return nil, refused(err)
	}
	a := new(whatif.Answer)
	return a, json.Unmarshal(text, a)
}

// Cancel implements Actor, with the rights of the user who runs this program.
func (m *Machine) Cancel(ctx context.Context, id job.ID) error {
	return refused(m.client.Cancel(ctx, id))
}

// Retry implements Retrier.
func (m *Machine) Retry(ctx context.Context, id job.ID) (job.ID, error) {
	again, err := m.client.Retry(ctx, id)
	return again, refused(err)
}

func refused(err error) error {
	e, ok := errors.AsType[*control.Error](err)
	if !ok || e.Status == http.StatusNotFound {
		return unknownJob(err)
	}
	return &RefusedError{Text: e.Message}
}

func unknownJob(err error) error {
	if e, ok := errors.AsType[*control.Error](err); ok && e.Status == http.StatusNotFound {
		return fmt.Errorf("%s: %w", e.Message, ErrUnknown)
	}
	return err
}

const lines = 50

// Log implements Source.
func (m *Machine) Log(ctx context.Context, id job.ID, w io.Writer) error {
	return unknownJob(m.client.Log(ctx, id, lines, false, w))
}

// seldom is the pause between readings of the journal, as a multiple of their duration.
const seldom = 50

// Series implements Source.
func (m *Machine) Series(context.Context) (*Series, error) {
	p, err := m.read()
	if err != nil {
		return nil, err
	}
	return p.series, nil
}

// Timeline implements Source.
func (m *Machine) Timeline(context.Context) (*status.Timeline, error) {
	p, err := m.read()
	if err != nil {
		return nil, err
	}
	return p.timeline, nil
}

func (m *Machine) read() (*past, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.past != nil && time.Now().Before(m.due) {
		return m.past, nil
	}
	begun := time.Now()
	err := m.journal(func(r *journal.Reader) error {
		p, err := pastOf(r)
		if err == nil {
			m.past = p
		}
		return err
	})
	m.due = time.Now().Add(seldom * time.Since(begun))
	return m.past, err
}

func (m *Machine) journal(read func(*journal.Reader) error) error {
	all, err := os.ReadDir(m.journals)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	all = slices.DeleteFunc(all, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) != ".oxj" })
	if len(all) == 0 {
		return fmt.Errorf("no journal in %s: %w", m.journals, ErrUnknown)
	}
	f, err := os.Open(filepath.Join(m.journals, all[len(all)-1].Name()))
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	r, err := journal.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return read(r)
}
