package claims

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/oxgang/oxgang/model/job"
)

// Why a token is not accepted.
var (
	ErrUnknown = errors.New("unknown token")         // it belongs to no pod of a job here
	ErrLater   = errors.New("cannot be checked now") // try again later
)

// How long answers are kept, how many, and how often questions are asked.
const (
	keepYes   = time.Minute
	keepNo    = 5 * time.Second
	keepMost  = 1 << 14         // answers: ranks 0 of so many jobs
	askTime   = 4 * time.Second // of one question
	perSource = 2               // questions per second of one address, on average
	burst     = 10              // of one address at once
	sources   = 1 << 12         // addresses whose rate is remembered
	perSecond = 50              // questions per second in total, on average
	burstAll  = 200             // in total at once: after a restart all jobs speak
)

// A Member is a pod that works for a job, as the scheduler sees it.
type Member struct {
	Job                      job.ID
	Namespace, Name, Account string // of the pod, and its service account
}

// bears reports whether a member is the pod that a token is of.
func (m *Member) bears(id Identity) bool {
	return m.Namespace == id.Namespace && m.Name == id.Name && m.Account == id.Account
}

// A Lookup returns the living member of a job that a pod is, by the pod's UID; false if it is none.
// It must be cheap.
type Lookup func(podUID string) (Member, bool)

// A Reviewer says to which pods tokens belong. Make one with New. It is safe for concurrent use.
type Reviewer struct {
	audience string // of the tokens that workers bear
	review   Review
	lookup   Lookup
	kept     *cache.LRUExpireCache // SHA-256 of a token -> Identity, or error
	flight   singleflight.Group
	all      flowcontrol.PassiveRateLimiter

	mu      sync.Mutex
	sources *cache.LRUExpireCache // address -> flowcontrol.PassiveRateLimiter
}

// New returns a Reviewer of tokens for an audience that has asked nothing.
func New(audience string, review Review, lookup Lookup) *Reviewer {
	return &Reviewer{
		audience: audience, review: review, lookup: lookup, kept: cache.NewLRUExpireCache(keepMost),
		all:     flowcontrol.NewTokenBucketPassiveRateLimiter(perSecond, burstAll),
		sources: cache.NewLRUExpireCache(sources),
	}
}

// Job returns the job of which the pod that bears a token is a living member. Namespace, name and
// service account are those of the member, too. Its errors are those of Pod.
func (r *Reviewer) Job(ctx context.Context, source, token string) (job.ID, error) {
	p, err := r.Pod(ctx, source, token)
	if err != nil {
		return "", err
	}
	m, ok := r.lookup(p.UID)
	switch {
	case !ok:
		return "", fmt.Errorf("%w: pod %s/%s is of no job that lives", ErrUnknown, p.Namespace, p.Name)
	case !m.bears(p):
		return "", fmt.Errorf("%w: it is of pod %s/%s and service account %s, want %s/%s and %s, as the job's pod has", ErrUnknown, p.Namespace, p.Name, p.Account, m.Namespace, m.Name, m.Account)
	}
	return m.Job, nil
}

// Pod returns the pod that a token belongs to; source is the address it came from. The error wraps
// ErrUnknown if the token belongs to no pod, or to one that Lookup does not have, and ErrLater if
// that could not be found out.
func (r *Reviewer) Pod(ctx context.Context, source, token string) (Identity, error) {
	named, ends, err := glance(token, r.audience, time.Now())
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if _, ok := r.lookup(named); !ok {
		return Identity{}, fmt.Errorf("%w: of a pod that is of no job that lives", ErrUnknown)
	}
	key := sha256.Sum256([]byte(token))
	if answer, ok := r.kept.Get(key); ok {
		return unpack(answer)
	}
	if !r.allow(source) {
		return Identity{}, fmt.Errorf("%w: too many questions from %s", ErrLater, source)
	}
	answers := r.flight.DoChan(string(key[:]), func() (any, error) { return r.ask(key, token, named, ends) })
	select {
	case a := <-answers:
		if a.Err != nil {
			return Identity{}, a.Err
		}
		return unpack(a.Val)
	case <-ctx.Done():
		return Identity{}, fmt.Errorf("%w: %w", ErrLater, ctx.Err())
	}
}

// unpack returns a kept answer.
func unpack(answer any) (Identity, error) {
	if id, ok := answer.(Identity); ok {
		return id, nil
	}
	return Identity{}, answer.(error)
}

// ask asks the API server and keeps the answer. It returns an error if there was no answer. One
// request may serve several callers, so that it does not end with the context of one of them.
func (r *Reviewer) ask(key [sha256.Size]byte, token, named string, ends time.Time) (any, error) {
	if answer, ok := r.kept.Get(key); ok { // since it was looked for
		return answer, nil
	}
	if !r.all.TryAccept() {
		return nil, fmt.Errorf("%w: too many questions", ErrLater)
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	status, err := r.review(ctx, token)
	if err != nil {
		return nil, fmt.Errorf("%w: token review: %w", ErrLater, err)
	}
	id, err := identify(status, named, r.audience)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnknown, err)
		r.kept.Add(key, err, keepNo)
		return err, nil
	}
	r.kept.Add(key, id, min(keepYes, time.Until(ends)))
	return id, nil
}

// allow takes a question from the rate of an address.
func (r *Reviewer) allow(source string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	const remembered = burst * time.Second / perSource // by then it is full again
	limit, ok := r.sources.Get(source)
	if !ok {
		limit = flowcontrol.NewTokenBucketPassiveRateLimiter(perSource, burst)
	}
	r.sources.Add(source, limit, remembered)
	return limit.(flowcontrol.PassiveRateLimiter).TryAccept()
}
