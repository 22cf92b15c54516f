package fault

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"

	"k8s.io/client-go/rest"
)

// A Moment is a point in the course of a call at which the program can be killed.
type Moment int

// The moments.
const (
	Before   Moment = iota // not yet sent
	Applied                // the client does not know
	Answered               // the client's further calls wait for the hook
)

func (m Moment) String() string { return [...]string{"before", "applied", "answered"}[m] }

// A Hook is called at each moment of each numbered call. If it returns false, the proxy cuts the connection.
type Hook func(c *Call, m Moment) bool

// A Proxy stands between one program and the API server, and injects faults. It does not support upgraded connections
// such as exec.
type Proxy struct {
	Rules    Rules
	upstream *rest.Config
	target   *url.URL
	send     http.RoundTripper
	server   *httptest.Server

	gate sync.RWMutex // held by calls on arrival, and by a hook at Answered

	mu    sync.Mutex
	hook  Hook
	calls []Call
	asked map[Match]int
	busy  int        // numbered calls under way
	idle  *sync.Cond // signals that busy is 0
}

// New starts a proxy, which must be closed.
func New(upstream *rest.Config) (*Proxy, error) {
	target, err := url.Parse(upstream.Host)
	if err != nil {
		return nil, fmt.Errorf("proxy: API server %q: %w", upstream.Host, err)
	}
	if target.Scheme != "https" || target.Host == "" {
		return nil, fmt.Errorf("proxy: API server %q, want https://host:port", upstream.Host)
	}
	send, err := rest.TransportFor(upstream)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &Proxy{upstream: upstream, target: target, send: send, asked: map[Match]int{}}
	p.idle = sync.NewCond(&p.mu)
	// HTTP/1.1, so that a cut affects only one call.
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	p.server.StartTLS()
	return p, nil
}

// Close closes the proxy.
func (p *Proxy) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// Config returns a client configuration that connects to the proxy. It has no credentials.
func (p *Proxy) Config() *rest.Config {
	c := &rest.Config{Host: p.server.URL, QPS: p.upstream.QPS, Burst: p.upstream.Burst}
	c.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	return c
}

// Hook sets the hook; nil: none.
func (p *Proxy) Hook(h Hook) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = h
}

// Calls returns the numbered calls so far, in order of arrival.
func (p *Proxy) Calls() []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Call(nil), p.calls...)
}

// Asked returns how many calls that m selects were made so far, numbered or not.
func (p *Proxy) Asked(m Match) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for is, times := range p.asked {
		if m.takes(&Call{Verb: is.Verb, Resource: is.Resource, Subresource: is.Subresource}) {
			n += times
		}
	}
	return n
}

func (p *Proxy) count(c *Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[Match{c.Verb, c.Resource, c.Subresource}]++
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	c := parse(r)
	p.count(c)
	if err := p.Rules.wait(r.Context(), c); err != nil {
		panic(http.ErrAbortHandler)
	}
	p.gate.RLock()
	hook := p.number(c)
	p.gate.RUnlock()
	defer p.finish(c)
	if a := p.Rules.answer(c); a != nil {
		p.note(c, a.code)
		a.write(w)
		return
	}
	cut := p.Rules.cut(c)
	if cut == BeforeSent || !hook(c, Before) {
		panic(http.ErrAbortHandler)
	}
	answer, err := p.forward(r, c)
	if err != nil {
		if r.Context().Err() != nil {
			panic(http.ErrAbortHandler)
		}
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	p.pass(&passage{w, r, answer, c, cut}, hook)
}

func (p *Proxy) number(c *Call) Hook {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !Steps(c) {
		return func(*Call, Moment) bool { return true }
	}
	c.Number = len(p.calls) + 1
	p.calls = append(p.calls, *c)
	p.busy++
	if p.hook == nil {
		return func(*Call, Moment) bool { return true }
	}
	return p.hook
}

func (p *Proxy) finish(c *Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.Number == 0 {
		return
	}
	if p.busy--; p.busy == 0 {
		p.idle.Broadcast()
	}
}

// Idle waits until no numbered call is under way.
func (p *Proxy) Idle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.busy > 0 {
		p.idle.Wait()
	}
}

func (p *Proxy) note(c *Call, code int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.Code = code
	if c.Number > 0 {
		p.calls[c.Number-1].Code = code
	}
}

func (p *Proxy) forward(r *http.Request, c *Call) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.RequestURI, out.URL.Scheme, out.URL.Host, out.Host = "", p.target.Scheme, p.target.Host, p.target.Host
	out.Header.Del("Connection")
	out.Header.Del("Accept-Encoding")
	if c.Verb == "watch" {
		out.Header.Set("Accept", "application/json")
	}
	if out.ContentLength == 0 {
		out.Body = http.NoBody
	}
	answer, err := p.send.RoundTrip(out)
	if err != nil {
		return nil, fmt.Errorf("proxy: %s: %w", c, err)
	}
	p.note(c, answer.StatusCode)
	return answer, nil
}

type passage struct {
	http.ResponseWriter
	request *http.Request
	answer  *http.Response
	call    *Call
	cut     Cut
}

func (p *Proxy) pass(w *passage, hook Hook) {
	answer, c := w.answer, w.call
	var body bytes.Buffer
	watch := c.Verb == "watch" && answer.StatusCode == http.StatusOK
	if !watch {
		if _, err := io.Copy(&body, answer.Body); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if w.cut == AfterAnswer || !hook(c, Applied) {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), answer.Header)
	if watch {
		w.WriteHeader(answer.StatusCode)
		p.stream(w.request.Context(), w.ResponseWriter, answer.Body, c)
		return
	}
	if c.Number > 0 { // nothing else passes until the hook returns
		p.gate.Lock()
		defer p.gate.Unlock()
	}
	w.Header().Set("Content-Length", strconv.Itoa(body.Len())) // so that the flush ends the answer
	w.WriteHeader(answer.StatusCode)
	_, err := w.Write(body.Bytes())
	if errors.Join(err, http.NewResponseController(w.ResponseWriter).Flush()) == nil {
		hook(c, Answered)
	}
}
