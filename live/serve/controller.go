package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/simulate/whatif"
)

var _ control.Service = (*controller)(nil)

func (c *controller) Submit(_ context.Context, r *control.Request) (job.ID, error) {
	find := func() error {
		_, err := supervisor.Program(r.Command[0], r.Dir, r.Env)
		return err
	}
	if err := r.User.Do(find); err != nil {
		return "", &control.Error{Status: http.StatusUnprocessableEntity, Message: err.Error()}
	}
	id, err := c.backend.Submit(r.Name, r.Spec(""), store.Request{Command: r.Command, Dir: r.Dir, Env: r.Env, User: r.User})
	if err != nil {
		return "", &control.Error{Status: http.StatusUnprocessableEntity, Message: err.Error()}
	}
	if r.User == nil {
		c.say("job %s: accepted: %s", id, strings.Join(r.Command, " "))
	} else {
		c.say("job %s: accepted, of user %s", id, r.User.Name())
	}
	return id, nil
}

func (c *controller) Cancel(_ context.Context, id job.ID) error {
	j, err := c.job(id)
	if err != nil {
		return err
	}
	if j.Ended != nil {
		return control.TooLate("job %s: it has ended already (%s)", id, j.Ended.Outcome)
	}
	if err := c.backend.Cancel(id); err != nil {
		return control.TooLate("%v", err)
	}
	c.say("job %s: cancelled", id)
	return nil
}

// Retry implements control.Service. The new job has the failed one's command, directory, environment and user.
func (c *controller) Retry(_ context.Context, id job.ID) (job.ID, error) {
	j, err := c.job(id)
	if err != nil {
		return "", err
	}
	if j.Ended == nil || j.Ended.Outcome != scheduler.Failed {
		return "", control.TooLate("job %s: it has not failed", id)
	}
	spec := *cmp.Or(j.Asked, j.Spec)
	again, err := c.backend.Submit(spec.Name, &spec, j.Request)
	if err != nil {
		return "", control.TooLate("%v", err)
	}
	c.say("job %s: accepted, again after the failure of %s", again, id)
	return again, nil
}

func (c *controller) Log(ctx context.Context, id job.ID, lines int, follow bool, w io.Writer) error {
	if _, err := c.job(id); err != nil {
		return err
	}
	over := func() bool {
		j, err := c.job(id)
		return err != nil || j.Ended != nil
	}
	t := control.Tail{Path: local.LogFile(c.o.Dir, id), Ended: over}
	return t.Copy(ctx, lines, follow, w)
}

func (c *controller) Explain(ctx context.Context, id job.ID) (*control.Explanation, error) {
	j, err := c.job(id)
	if err != nil {
		return nil, err
	}
	if why := c.withheld(id); why != "" {
		return &control.Explanation{Text: fmt.Sprintf("%s waits for the quota of its user: %s.\n", id, why)}, nil
	}
	story, err := c.driver.Story(ctx, id, c.seen(id))
	if unknown := (*explain.UnknownJobError)(nil); errors.As(err, &unknown) {
		v, err := c.Job(id)
		return &control.Explanation{Text: fmt.Sprintf("%s: %s %s", id, v.Outcome, v.Detail)}, err
	}
	if err != nil {
		return nil, err
	}
	var text, details strings.Builder
	if err := errors.Join(story.WriteText(&text), story.WriteDetails(&details)); err != nil {
		return nil, err
	}
	if v, err := c.Job(id); err == nil && v.Trouble != "" {
		fmt.Fprintf(&text, "\nTrouble: %s\n", v.Trouble)
	}
	if caveat := c.backend.Caveat(); caveat != "" && j.Ended == nil {
		fmt.Fprintf(&text, "\nNote: %s.\n", caveat)
	}
	return &control.Explanation{Text: text.String(), Details: details.String(), Story: marshal(story)}, nil
}

func (c *controller) Ask(ctx context.Context, q *control.Question) (json.RawMessage, error) {
	of := whatif.Question(*q)
	if err := of.Validate(); err != nil {
		return nil, control.Refuse("%v", err)
	}
	if id := cmp.Or(q.Cancel, q.Resize); id != "" {
		if j, err := c.job(id); err != nil {
			return nil, err
		} else if j.Ended != nil {
			return nil, control.TooLate("job %s: it has ended already (%s)", id, j.Ended.Outcome)
		}
	}
	a, err := c.driver.Ask(ctx, of)
	if err != nil {
		return nil, control.TooLate("%v", err)
	}
	return json.Marshal(a)
}

func (c *controller) Try(ctx context.Context, spec *job.Spec) (json.RawMessage, error) {
	a, err := c.driver.Try(ctx, spec)
	if err != nil {
		return nil, control.TooLate("%v", err)
	}
	return json.Marshal(a)
}

func (c *controller) seen(id job.ID) explain.LiveState {
	for _, l := range c.backend.Live() {
		if l.Spec.ID == id {
			return explain.LiveState{Up: l.Up && !l.Spoke, Preemption: preemption(&l)}
		}
	}
	return explain.LiveState{}
}

func preemption(l *local.Live) explain.Preemption {
	switch {
	case l.Asked != nil && l.Asked.NonPreemptive:
		return explain.Forbidden
	case !l.Spoke:
		return explain.NotYet
	}
	return explain.NotKnown
}

func (c *controller) withheld(id job.ID) string {
	for _, l := range c.backend.Live() {
		if l.Spec.ID == id {
			return l.Withheld
		}
	}
	return ""
}

func marshal(s *explain.Story) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return text
}
