package planstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/live/kube/jobstate"
)

// ErrFenced says that another leader has planned since: this one must not any more.
var ErrFenced = errors.New("another scheduler has taken over")

// A Store is the Plan object of a queue, at the API server.
type Store struct {
	options *config.Options
	client  client.Client
	direct  client.Reader // reads come from the API server
}

// NewStore returns the Store of a queue.
func NewStore(o *config.Options, c client.Client, direct client.Reader) *Store {
	return &Store{o, c, direct}
}

// Commit writes a plan, again and again while the API server does not take it, later each time, and
// no sooner than the API server asks for.
func (s *Store) Commit(ctx context.Context, next *v1alpha1.Plan) error {
	for wait := jobstate.Backoff; ; wait = min(2*wait, 30*time.Second) {
		err := s.write(ctx, next)
		if err == nil {
			return nil
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

// TakeOver reads the Plan, or makes it, and takes the next epoch; in a mode that writes nothing
// it reads it only.
func (s *Store) TakeOver(ctx context.Context) (*v1alpha1.Plan, error) {
	for {
		p := &v1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Name: s.options.Queue.Name}}
		err := s.direct.Get(ctx, client.ObjectKeyFromObject(p), p)
		missing := apierrors.IsNotFound(err)
		if err != nil && !missing {
			return nil, err
		}
		if !s.options.Writes() {
			return p, nil
		}
		p.Spec.Epoch++
		p.Spec.Leader = s.options.Identity
		if missing {
			err = s.client.Create(ctx, p)
		} else {
			err = s.client.Update(ctx, p)
		}
		if err == nil || !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return p, err
		}
	}
}

// write makes a plan the committed one. A conflict is looked into: if the plan that is there
// is this one, the answer to an earlier attempt was lost; if it is another leader's, this one
// has been fenced; if somebody else touched it, the plan is written over that.
func (s *Store) write(ctx context.Context, next *v1alpha1.Plan) error {
	err := s.client.Update(ctx, next)
	if err == nil || !apierrors.IsConflict(err) {
		return err
	}
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
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsRequestEntityTooLargeError(err):
		return false
	}
	return !errors.Is(err, ErrFenced)
}

// Save writes the status of a plan, which outlives this leader.
func (s *Store) Save(ctx context.Context, p *v1alpha1.Plan) error {
	return s.client.Status().Update(ctx, p)
}
