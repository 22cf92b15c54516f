package planstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// ErrFenced says that another leader has planned since: this one must not any more.
var ErrFenced = errors.New("another scheduler has taken over")

// A Store is the Plan object of a queue, at the API server. State is safe for concurrent use.
type Store struct {
	options *config.Options
	client  client.Client
	direct  client.Reader // reads come from the API server
	shrink  int           // parts of the plan are so many times as small as they may be
	saved   time.Time     // when the history of jobs was
	saving  time.Duration // how long that took
	writing time.Duration // how long the last plan took

	mu    sync.Mutex
	state State
}

// A State is how it stands with the writing of plans.
type State struct {
	LeftOut int       // jobs that wait and are not in the last plan, because they did not fit
	Trouble error     // why the plan that is to be written was not yet; nil: it was
	Since   time.Time // since when
}

// State returns how it stands with the writing of plans.
func (s *Store) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// NewStore returns the Store of a queue.
func NewStore(o *config.Options, c client.Client, direct client.Reader) *Store {
	return &Store{options: o, client: c, direct: direct, shrink: 1}
}

// note records what became of an attempt to write a plan, and logs what went wrong.
func (s *Store) note(left int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.state = State{LeftOut: left}
		return
	}
	if s.state.Trouble == nil {
		s.state.Since = time.Now()
	}
	s.state.Trouble = err
	s.options.Log.Warn("a plan was not written", "queue", s.options.Queue.Name, "err", err)
}

// mostShrink is how many times as small the parts of a plan are made at most for an API server that takes
// less than others.
const mostShrink = 8

// Commit writes a plan, again and again while the API server does not take it, later each time, and
// no sooner than the API server asks for. One that is too large is tried again with less in it.
func (s *Store) Commit(ctx context.Context, next *v1alpha1.Plan) error {
	for wait := jobstate.Backoff; ; wait = min(2*wait, 30*time.Second) {
		left, err := s.write(ctx, next)
		s.note(left, err)
		if err == nil {
			return nil
		}
		if tooLarge(err) && s.shrink < mostShrink {
			s.shrink *= 2
			continue
		}
		if !passes(err) {
			return fmt.Errorf("plan %s: %w", next.Name, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(jobstate.LeaveAlone(wait, err)):
		}
	}
}

// TakeOver reads the Plan, or makes it, and takes the next epoch, which is newer than that of every
// witness; in a mode that writes nothing it reads it only.
func (s *Store) TakeOver(ctx context.Context) (*v1alpha1.Plan, error) {
	for {
		p := &v1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Name: s.options.Queue.Name}}
		err := s.direct.Get(ctx, client.ObjectKeyFromObject(p), p)
		missing := apierrors.IsNotFound(err)
		if err != nil && !missing {
			return nil, err
		}
		if err := p.Unpack(); err != nil {
			return nil, err
		}
		if !s.options.Writes() {
			return p, nil
		}
		seen, err := s.witnessed(ctx)
		if err != nil {
			return nil, err
		}
		p.Spec.Epoch = max(max(p.Spec.Epoch, seen)+1, s.clock())
		p.Spec.Leader = s.options.Identity
		err = s.take(ctx, p, missing)
		if err == nil {
			return p, s.testify(ctx, p.Spec.Epoch)
		}
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return nil, err
		}
	}
}

// take writes a plan with a new epoch.
func (s *Store) take(ctx context.Context, p *v1alpha1.Plan, missing bool) error {
	f, err := fitSpec(p, s.shrink)
	if err != nil {
		return err
	}
	if missing {
		err = s.client.Create(ctx, f.plan)
	} else {
		err = s.client.Update(ctx, f.plan)
	}
	p.ObjectMeta = f.plan.ObjectMeta
	return err
}

// write makes a plan the committed one, and returns how many jobs that wait did not fit. A conflict
// is looked into: if the plan that is there is this one, the answer to an earlier attempt was lost; if
// it is another leader's, this one has been fenced; if somebody else touched it, the plan is written
// over that.
func (s *Store) write(ctx context.Context, next *v1alpha1.Plan) (left int, err error) {
	f, err := fitSpec(next, s.shrink)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err = s.client.Update(ctx, f.plan); apierrors.IsConflict(err) {
		err = s.resolve(ctx, f.plan)
	}
	s.writing = time.Since(began)
	if err == nil {
		next.ObjectMeta = *f.plan.ObjectMeta.DeepCopy()
	}
	return f.left, err
}

// resolve looks into a conflict.
func (s *Store) resolve(ctx context.Context, next *v1alpha1.Plan) error {
	var there v1alpha1.Plan
	if err := s.direct.Get(ctx, client.ObjectKeyFromObject(next), &there); err != nil {
		return err
	}
	switch {
	case there.Spec.Epoch != next.Spec.Epoch || there.Spec.Leader != next.Spec.Leader:
		return fmt.Errorf("%w: epoch %d of %s, and this is epoch %d of %s", ErrFenced, there.Spec.Epoch, there.Spec.Leader, next.Spec.Epoch, next.Spec.Leader)
	case there.Spec.Round == next.Spec.Round && there.Spec.Inputs == next.Spec.Inputs:
		next.ResourceVersion = there.ResourceVersion
		return nil
	}
	next.ResourceVersion = there.ResourceVersion
	return s.client.Update(ctx, next)
}

// Leads returns ErrFenced if another leader has taken the Plan over.
func (s *Store) Leads(ctx context.Context, epoch int64) error {
	var p v1alpha1.Plan
	if err := s.direct.Get(ctx, client.ObjectKey{Name: s.options.Queue.Name}, &p); err != nil {
		return err
	}
	if p.Spec.Epoch != epoch {
		return fmt.Errorf("%w: epoch %d of %s, and this is epoch %d of %s", ErrFenced, p.Spec.Epoch, p.Spec.Leader, epoch, s.options.Identity)
	}
	return nil
}

// passes reports whether an error may pass by itself: the plan waits for that.
func passes(err error) bool {
	switch {
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err), apierrors.IsForbidden(err), tooLarge(err):
		return false
	}
	return !errors.Is(err, ErrFenced)
}

// tooLarge reports whether the API server, or etcd behind it, does not take an object for its size.
func tooLarge(err error) bool {
	return apierrors.IsRequestEntityTooLargeError(err) || err != nil && strings.Contains(err.Error(), "request is too large")
}

// seldom is how many times as long as it took to save the history of jobs it is not saved again. A round waits for it, and it costs the API server as
// much as the plan. Where the plan took long, the history is taken to take as long, so that a round that was long is seldom made longer.
const seldom = 9

// Due reports whether the history of jobs may be saved again.
func (s *Store) Due() bool { return time.Since(s.saved) >= seldom*max(s.saving, s.writing) }

// Save writes the status of a plan, which outlives this leader; what of it does not fit is left out.
func (s *Store) Save(ctx context.Context, p *v1alpha1.Plan) error {
	f, err := fitStatus(p, s.shrink)
	if err != nil {
		return err
	}
	if f.left > 0 {
		s.options.Log.Warn("the history of some jobs does not fit into the plan", "queue", p.Name, "jobs", f.left)
	}
	began := time.Now()
	err = s.client.Status().Update(ctx, f.plan)
	s.saved, s.saving = time.Now(), time.Since(began)
	if err != nil {
		return err
	}
	p.ObjectMeta = f.plan.ObjectMeta
	return nil
}
