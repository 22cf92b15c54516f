package fault

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Cut states at which point of a call its connection breaks.
type Cut int

// The cuts.
const (
	BeforeSent  Cut = iota + 1
	AfterAnswer     // the client does not receive it
)

// Rules are the faults that a proxy injects. They can be changed while the proxy runs.
type Rules struct {
	mu        sync.Mutex
	answers   []*answer
	cuts      []*cut
	throttles []throttle
	delays    map[string]time.Duration
	holds     map[string]chan struct{} // closed when events may pass
	drops     []*drop
	load      load
}

type answer struct {
	match      *Match
	left, code int
	retryAfter time.Duration
}

type cut struct {
	match *Match
	left  int
	when  Cut
}

type throttle struct {
	match []Match
	limit *rate.Limiter
}

func (t *throttle) takes(c *Call) bool {
	return c.Verb != "watch" && slices.ContainsFunc(t.match, func(m Match) bool { return m.takes(c) })
}

// An Event is a watch event.
type Event struct{ Type, Namespace, Name string }

type drop struct {
	resource string
	left     int
	match    func(Event) bool
}

// Answer makes the proxy answer the next n calls that m selects with HTTP status code, without forwarding them. If
// retryAfter is positive, the response has it in a header, in whole seconds.
func (r *Rules) Answer(m *Match, n, code int, retryAfter time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = append(r.answers, &answer{m, n, code, retryAfter})
}

// Calm ends the effects of Answer, Cut and Drop. It returns how many calls they would still have affected.
func (r *Rules) Calm() (left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.answers {
		left += a.left
	}
	for _, c := range r.cuts {
		left += c.left
	}
	r.answers, r.cuts, r.drops = nil, nil, nil
	return left
}

// Cut breaks the connections of the next n calls that m selects, at the point when.
func (r *Rules) Cut(m *Match, n int, when Cut) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cuts = append(r.cuts, &cut{m, n, when})
}

// Throttle limits the calls that match any of m, except watches, to perSecond calls a second in total. It keeps their
// order.
func (r *Rules) Throttle(perSecond float64, m ...Match) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.throttles = append(r.throttles, throttle{m, rate.NewLimiter(rate.Limit(perSecond), 1)})
}

// Delay delays all later watch events of a resource by d. 0 ends this.
func (r *Rules) Delay(resource string, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.delays == nil {
		r.delays = map[string]time.Duration{}
	}
	r.delays[resource] = d
}

// Hold holds back all later watch events of a resource until release is called.
func (r *Rules) Hold(resource string) (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holds == nil {
		r.holds = map[string]chan struct{}{}
	}
	free := make(chan struct{})
	r.holds[resource] = free
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		close(free)
		if r.holds[resource] == free {
			delete(r.holds, resource)
		}
	})
}

// Drop drops the next n watch events of a resource for which match returns true, except bookmarks.
func (r *Rules) Drop(resource string, n int, match func(Event) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drops = append(r.drops, &drop{resource, n, match})
}

func (r *Rules) answer(c *Call) *answer {
	if a := r.refuses(c); a != nil {
		return a
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.answers {
		if a.left > 0 && a.match.takes(c) {
			a.left--
			return a
		}
	}
	return nil
}

func (r *Rules) cut(c *Call) Cut {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.cuts {
		if a.left > 0 && a.match.takes(c) {
			a.left--
			return a.when
		}
	}
	return 0
}

func (r *Rules) wait(ctx context.Context, c *Call) error {
	r.mu.Lock()
	var limits []*rate.Limiter
	for i := range r.throttles {
		if r.throttles[i].takes(c) {
			limits = append(limits, r.throttles[i].limit)
		}
	}
	r.mu.Unlock()
	for _, l := range limits {
		if err := l.Wait(ctx); err != nil {
			return err
		}
	}
	return r.linger(ctx, c)
}

func (r *Rules) delay(resource string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.delays[resource]
}

func (r *Rules) hold(resource string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.holds[resource]
}

func (r *Rules) drop(resource string, e Event) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.drops {
		if d.left > 0 && d.resource == resource && d.match(e) {
			d.left--
			return true
		}
	}
	return false
}

var reasons = map[int]string{
	http.StatusConflict: "Conflict", http.StatusGone: "Expired", http.StatusTooManyRequests: "TooManyRequests",
	http.StatusInternalServerError: "InternalError", http.StatusServiceUnavailable: "ServiceUnavailable",
	http.StatusNotFound: "NotFound", http.StatusForbidden: "Forbidden",
}

func (a *answer) write(w http.ResponseWriter) {
	h, after := w.Header(), 0
	h.Set("Content-Type", "application/json")
	if a.retryAfter > 0 {
		after = max(1, int(a.retryAfter/time.Second))
		h.Set("Retry-After", strconv.Itoa(after))
	}
	w.WriteHeader(a.code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,`+
		`"message":"fault: answered by the proxy","details":{"retryAfterSeconds":%d}}`, reasons[a.code], a.code, after)
}
