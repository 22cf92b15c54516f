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
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// ErrFenced is returned if another leader has written a plan.
var ErrFenced = errors.New("another scheduler has taken over")

// A Store writes the Plan object of a queue. Only its method State is safe for concurrent use.
type Store struct {
	options *jobstate.Options
	client  client.Client
	direct  client.Reader
	shrink  int           // divides the limits of the plan's parts
	saved   time.Time     // last write of job history
	saving  time.Duration // its duration
	writing time.Duration

	mu    sync.Mutex
	state State
}

// A State is the result of the last write of a plan.
type State struct {
	LeftOut int       // waiting jobs that did not fit
	Trouble error     // nil: the plan is written
	Since   time.Time // first failure
}

// State returns the result of the last write of a plan.
func (s *Store) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// NewStore returns the Store of a queue's plans. c writes, and may read from a cache; direct reads from the API server.
func NewStore(o *jobstate.Options, c client.Client, direct client.Reader) *Store {
	return &Store{options: o, client: c, direct: direct, shrink: 1}
}

func (s *Store) record(leftOut int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.state = State{LeftOut: leftOut}
		return
	}
	if s.state.Trouble == nil {
		s.state.Since = time.Now()
	}
	s.state.Trouble = err
	s.options.Log.Warn("a plan was not written", "queue", s.options.Queue.Name, "err", err)
}

// mostShrink is the largest shrink, for an API server with lower limits.
const mostShrink = 8

// Commit writes plan next, with retries. It shortens a plan that is too large for an object.
func (s *Store) Commit(ctx context.Context, next *v1alpha1.Plan) error {
	for wait := jobstate.Backoff; ; wait = min(2*wait, 30*time.Second) {
		leftOut, err := s.write(ctx, next)
		s.record(leftOut, err)
		if err == nil {
			return nil
		}
		if tooLarge(err) && s.shrink < mostShrink {
			s.shrink *= 2
			continue
		}
		if !temporary(err) {
			return fmt.Errorf("plan %s: %w", next.Name, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(jobstate.LeaveAlone(wait, err)):
		}
	}
}

// TakeOver makes this process the only writer of plans: it reads or creates the Plan and begins the next epoch. In a
// mode without writes it only reads.
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
		seen, err := s.highestEpoch(ctx)
		if err != nil {
			return nil, err
		}
		p.Spec.Epoch = max(max(p.Spec.Epoch, seen)+1, s.clock())
		p.Spec.Leader = s.options.Identity
		p.OwnerReferences = s.options.Queue.Owner()
		err = s.writeEpoch(ctx, p, missing)
		if err == nil {
			return p, s.recordEpoch(ctx, p.Spec.Epoch)
		}
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return nil, err
		}
	}
}

func (s *Store) writeEpoch(ctx context.Context, p *v1alpha1.Plan, missing bool) error {
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

func (s *Store) write(ctx context.Context, next *v1alpha1.Plan) (leftOut int, err error) {
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
	return f.leftOut, err
}

// The stored plan may be this one, if a response was lost. Another leader's plan fences this one. Any other edit is
// overwritten.
func (s *Store) resolve(ctx context.Context, next *v1alpha1.Plan) error {
	var there v1alpha1.Plan
	if err := s.direct.Get(ctx, client.ObjectKeyFromObject(next), &there); err != nil {
		return err
	}
	switch {
	case there.Spec.Epoch != next.Spec.Epoch || there.Spec.Leader != next.Spec.Leader:
		return fmt.Errorf("%w: the plan has epoch %d of %s; this is epoch %d of %s", ErrFenced, there.Spec.Epoch, there.Spec.Leader, next.Spec.Epoch, next.Spec.Leader)
	case there.Spec.Round == next.Spec.Round && there.Spec.Inputs == next.Spec.Inputs:
		next.ResourceVersion = there.ResourceVersion
		return nil
	}
	next.ResourceVersion = there.ResourceVersion
	return s.client.Update(ctx, next)
}

// Leads returns ErrFenced if another leader has taken over.
func (s *Store) Leads(ctx context.Context, epoch int64) error {
	var p v1alpha1.Plan
	if err := s.direct.Get(ctx, client.ObjectKey{Name: s.options.Queue.Name}, &p); err != nil {
		return err
	}
	if p.Spec.Epoch != epoch {
		return fmt.Errorf("%w: the plan has epoch %d of %s; this is epoch %d of %s", ErrFenced, p.Spec.Epoch, p.Spec.Leader, epoch, s.options.Identity)
	}
	return nil
}

func temporary(err error) bool {
	switch {
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err), apierrors.IsForbidden(err), tooLarge(err):
		return false
	}
	return !errors.Is(err, ErrFenced)
}

func tooLarge(err error) bool {
	return apierrors.IsRequestEntityTooLargeError(err) || err != nil && strings.Contains(err.Error(), "request is too large")
}

// saveInterval is the shortest time between writes of job history, in durations of a write. Rounds wait for it.
const saveInterval = 9

// Due reports whether job history may be written again (see saveInterval).
func (s *Store) Due() bool { return time.Since(s.saved) >= saveInterval*max(s.saving, s.writing) }

// Save writes a plan's job history, as far as it fits into the object.
func (s *Store) Save(ctx context.Context, p *v1alpha1.Plan) error {
	f, err := fitStatus(p, s.shrink)
	if err != nil {
		return err
	}
	if f.leftOut > 0 {
		s.options.Log.Warn("some job history does not fit into the plan", "queue", p.Name, "jobs", f.leftOut)
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
