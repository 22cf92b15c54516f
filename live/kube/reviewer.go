package kube

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

// Errors for tokens that are not accepted.
var (
	ErrUnknownToken = errors.New("unknown token") // the token belongs to no pod of a job in this cluster
	ErrReviewLater  = errors.New("cannot be checked now")
)

const (
	keepYes   = time.Minute
	keepNo    = 5 * time.Second
	keepMost  = 1 << 14 // results: one for each job's rank 0
	askTime   = 4 * time.Second
	perSource = 2       // on average
	burst     = 10      // of one address
	sources   = 1 << 12 // addresses with a rate limit
	perSecond = 50      // on average
	burstAll  = 200     // after a restart all jobs send messages
)

// A Member is a pod of a job.
type Member struct {
	Job                      job.ID
	Namespace, Name, Account string // of the pod, and its service account
}

func (m *Member) matches(id identity) bool {
	return m.Namespace == id.Namespace && m.Name == id.Name && m.Account == id.Account
}

// A lookup returns the running pod with the given UID, if it belongs to a job. It must be fast.
type lookup func(podUID string) (Member, bool)

// A Reviewer returns the pod that sent a token. It is safe for concurrent use.
//
// A worker's bearer token is a projected service-account token for the agent API, bound to its pod. The API server
// verifies it with a TokenReview. The pod must be a live member of a job here, with the same name and service
// account. This is checked for every message, because the API server accepts a token for up to a minute after its
// pod was deleted.
//
// To limit TokenReviews, the unverified content of a token is checked first, results are cached by the SHA-256 of
// the token, and requests are combined and limited in rate.
type Reviewer struct {
	audience string
	review   Review
	lookup   lookup
	cache    *cache.LRUExpireCache
	flight   singleflight.Group
	all      flowcontrol.PassiveRateLimiter

	mu      sync.Mutex
	sources *cache.LRUExpireCache
}

// NewReviewer returns a Reviewer of tokens that were issued for audience.
func NewReviewer(audience string, review Review, lookup lookup) *Reviewer {
	return &Reviewer{
		audience: audience, review: review, lookup: lookup, cache: cache.NewLRUExpireCache(keepMost),
		all:     flowcontrol.NewTokenBucketPassiveRateLimiter(perSecond, burstAll),
		sources: cache.NewLRUExpireCache(sources),
	}
}

// Job returns the job whose pod sent the token from the network address source. Errors are as in Pod.
func (r *Reviewer) Job(ctx context.Context, source, token string) (job.ID, error) {
	p, err := r.pod(ctx, source, token)
	if err != nil {
		return "", err
	}
	m, ok := r.lookup(p.UID)
	switch {
	case !ok:
		return "", fmt.Errorf("%w: pod %s/%s belongs to no running job", ErrUnknownToken, p.Namespace, p.Name)
	case !m.matches(p):
		return "", fmt.Errorf("%w: it belongs to pod %s/%s with service account %s, want pod %s/%s with %s", ErrUnknownToken, p.Namespace, p.Name, p.Account, m.Namespace, m.Name, m.Account)
	}
	return m.Job, nil
}

// pod returns the pod that sent the token from the network address source. The error wraps ErrUnknownToken if no job's
// pod has this token, and ErrReviewLater if it cannot be checked now.
func (r *Reviewer) pod(ctx context.Context, source, token string) (identity, error) {
	named, ends, err := readToken(token, r.audience, time.Now())
	if err != nil {
		return identity{}, fmt.Errorf("%w: %w", ErrUnknownToken, err)
	}
	if _, ok := r.lookup(named); !ok {
		return identity{}, fmt.Errorf("%w: its pod belongs to no running job", ErrUnknownToken)
	}
	key := sha256.Sum256([]byte(token))
	if answer, ok := r.cache.Get(key); ok {
		return unpack(answer)
	}
	if !r.allow(source) {
		return identity{}, fmt.Errorf("%w: too many requests from %s", ErrReviewLater, source)
	}
	answers := r.flight.DoChan(string(key[:]), func() (any, error) { return r.ask(key, token, named, ends) })
	select {
	case a := <-answers:
		if a.Err != nil {
			return identity{}, a.Err
		}
		return unpack(a.Val)
	case <-ctx.Done():
		return identity{}, fmt.Errorf("%w: %w", ErrReviewLater, ctx.Err())
	}
}

func unpack(answer any) (identity, error) {
	if id, ok := answer.(identity); ok {
		return id, nil
	}
	return identity{}, answer.(error)
}

// ask sends a review and caches the result. It serves several callers, so it does not use their contexts.
func (r *Reviewer) ask(key [sha256.Size]byte, token, named string, ends time.Time) (any, error) {
	if answer, ok := r.cache.Get(key); ok {
		return answer, nil
	}
	if !r.all.TryAccept() {
		return nil, fmt.Errorf("%w: too many requests", ErrReviewLater)
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	status, err := r.review(ctx, token)
	if err != nil {
		return nil, fmt.Errorf("%w: token review: %w", ErrReviewLater, err)
	}
	id, err := identify(status, named, r.audience)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnknownToken, err)
		r.cache.Add(key, err, keepNo)
		return err, nil
	}
	r.cache.Add(key, id, min(keepYes, time.Until(ends)))
	return id, nil
}

func (r *Reviewer) allow(source string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	const remembered = burst * time.Second / perSource // then it is full again
	limit, ok := r.sources.Get(source)
	if !ok {
		limit = flowcontrol.NewTokenBucketPassiveRateLimiter(perSource, burst)
	}
	r.sources.Add(source, limit, remembered)
	return limit.(flowcontrol.PassiveRateLimiter).TryAccept()
}
