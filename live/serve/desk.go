package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/oxgang/oxgang/explain"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local"
	"github.com/oxgang/oxgang/live/store"
)

var _ control.Service = (*desk)(nil)

// Submit implements control.Service.
func (d *desk) Submit(_ context.Context, r *control.Request) (job.ID, error) {
	id, err := d.world.Submit(r.Name, r.Spec(""), store.Request{Command: r.Command, Dir: r.Dir, Env: r.Env})
	if err != nil {
		return "", &control.Error{Status: http.StatusUnprocessableEntity, Message: err.Error()}
	}
	d.say("job %s: accepted: %s", id, strings.Join(r.Command, " "))
	return id, nil
}

// Cancel implements control.Service.
func (d *desk) Cancel(_ context.Context, id job.ID) error {
	j, err := d.job(id)
	if err != nil {
		return err
	}
	if j.Ended != nil {
		return control.TooLate("job %s: it has ended already (%s)", id, j.Ended.Outcome)
	}
	if err := d.world.Cancel(id); err != nil {
		return control.TooLate("%v", err)
	}
	d.say("job %s: cancelled", id)
	return nil
}

// Log implements control.Service.
func (d *desk) Log(ctx context.Context, id job.ID, lines int, follow bool, w io.Writer) error {
	if _, err := d.job(id); err != nil {
		return err
	}
	over := func() bool {
		j, err := d.job(id)
		return err != nil || j.Ended != nil
	}
	t := control.Tail{Path: local.LogFile(d.o.Dir, id), Ended: over}
	return t.Copy(ctx, lines, follow, w)
}

// Explain implements control.Service.
func (d *desk) Explain(ctx context.Context, id job.ID) (*control.Explanation, error) {
	if _, err := d.job(id); err != nil {
		return nil, err
	}
	story, err := d.story(id)
	if unknown := (*explain.UnknownJobError)(nil); errors.As(err, &unknown) {
		v, err := d.Job(id)
		return &control.Explanation{Text: fmt.Sprintf("%s: %s %s", id, v.Outcome, v.Detail)}, err
	}
	if err != nil {
		return nil, err
	}
	d.foresee(ctx, story)
	var text strings.Builder
	if err := story.WriteText(&text); err != nil {
		return nil, err
	}
	return &control.Explanation{Text: text.String(), Story: marshal(story)}, nil
}

// story returns how a job stands now, from the journal.
func (d *desk) story(id job.ID) (*explain.Story, error) {
	f, err := os.Open(d.record.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := journal.NewReader(f)
	if err != nil {
		return nil, err
	}
	r.Growing = true
	return explain.At(r, id, time.Since(d.record.Start))
}
