package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/job"
)

//go:embed web/page.html web/page.css web/timeline.css web/page.js
var files embed.FS

// A Server serves the live page of a Source over HTTP. Viewers must have its token.
type Server struct {
	source Source
	actor  Actor  // nil for a read-only page
	token  string // in the first URL
	viewer string // cookie; permits viewing only
	host   string // and port, as browsers name it
	listen net.Listener
	cookie string
	feed   feed
	past   pastFeed
}

// Listen opens the address listen (host:port) for the page of a Source. Serve serves the page there.
func Listen(source Source, listen string) (*Server, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	s := newServer(source, l.Addr())
	s.listen = l
	return s, nil
}

func newServer(source Source, address net.Addr) *Server {
	_, port, _ := net.SplitHostPort(address.String())
	s := &Server{source: source, token: rand.Text(), viewer: rand.Text(), host: address.String(), cookie: "oxgang-" + port}
	s.feed.overview = s.look
	return s
}

// URL returns the URL of the page, including the token.
func (s *Server) URL() string { return "http://" + s.host + "/?token=" + s.token }

// Serve serves the page until ctx is done. It updates a live page every second.
func (s *Server) Serve(ctx context.Context) error {
	var watching sync.WaitGroup
	defer watching.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	if s.source.Live() {
		watching.Go(func() { s.watch(ctx, time.Second) })
	}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(s.listen); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range s.routes() {
		mux.HandleFunc(pattern, handle)
	}
	return s.guard(mux)
}

func (s *Server) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /{$}":          serveFile("page.html", "text/html"),
		"GET /page.css":     serveFile("page.css", "text/css"),
		"GET /timeline.css": serveFile("timeline.css", "text/css"),
		"GET /page.js":      serveFile("page.js", "text/javascript"),
		"GET /api/overview": s.overview,
		"GET /api/job":      s.job,
		"GET /api/log":      s.log,
		"GET /api/series":   s.series,
		"GET /api/timeline": s.timeline,
		"GET /api/question": s.question,
		"GET /api/changes":  s.feed.changes,
		"POST /api/cancel":  s.cancel,
		"POST /api/retry":   s.retry,
	}
}

func serveFile(name, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		text, _ := files.ReadFile("web/" + name)
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		_, _ = w.Write(text)
	}
}

// rest is the pause after a look, as a multiple of its duration.
const rest = 39

// watch updates the overview every period until ctx is done. It updates less often if an update takes long.
func (s *Server) watch(ctx context.Context, period time.Duration) {
	for {
		began := time.Now()
		s.feed.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(period, rest*time.Since(began))):
		}
	}
}

func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if r.Host != s.host {
			http.Error(w, "this page is at "+s.host, http.StatusMisdirectedRequest)
			return
		}
		if given := r.URL.Query().Get("token"); given != "" && s.knows(given) {
			http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: s.viewer, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, r.URL.Path+s.fragment(), http.StatusSeeOther) // keeps the token out of the history
			return
		}
		c, err := r.Cookie(s.cookie)
		if err != nil || !same(c.Value, s.viewer) {
			http.Error(w, "open the printed URL: it contains the token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) fragment() string {
	if s.actor == nil {
		return ""
	}
	return "#act=" + s.token
}

func (s *Server) knows(token string) bool { return same(token, s.token) }

func same(given, want string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

func (s *Server) look(ctx context.Context, at time.Duration) (*Overview, error) {
	overview, err := s.source.Overview(ctx, at)
	if err == nil {
		overview.Asks, overview.Acts, overview.Retries = s.asker() != nil, s.actor != nil, s.retrier() != nil
	}
	return overview, err
}

func at(r *http.Request) (time.Duration, error) {
	text := r.URL.Query().Get("at")
	if text == "" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v < 9e9) {
		return 0, fmt.Errorf("at=%q, want seconds since the start, at least 0", text)
	}
	return time.Duration(v * float64(time.Second)), nil
}

func (s *Server) overview(w http.ResponseWriter, r *http.Request) {
	if s.source.Live() {
		s.feed.write(w, r)
		return
	}
	t, err := at(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	overview, err := s.look(r.Context(), t)
	answer(w, r, overview, err)
}

func (s *Server) job(w http.ResponseWriter, r *http.Request) {
	t, err := at(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	j, err := s.source.Job(r.Context(), job.ID(r.URL.Query().Get("id")), t)
	answer(w, r, j, err)
}

func (s *Server) log(w http.ResponseWriter, r *http.Request) {
	var text bytes.Buffer
	if err := s.source.Log(r.Context(), job.ID(r.URL.Query().Get("id")), &text); err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, printable.Text(text.String()))
}

func (s *Server) series(w http.ResponseWriter, r *http.Request) {
	all, err := s.source.Series(r.Context())
	answer(w, r, all, err)
}

func answer(w http.ResponseWriter, r *http.Request, v any, err error) {
	if err != nil {
		fail(w, err)
		return
	}
	text, err := packed(v)
	if err != nil {
		fail(w, err)
		return
	}
	send(w, r, text)
}

func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, ErrUnknown) {
		status = http.StatusNotFound
	}
	if _, refused := errors.AsType[*RefusedError](err); refused {
		status = http.StatusConflict
	}
	http.Error(w, printable.Line(err.Error()), status)
}

func packed(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err = z.Write(append(printable.JSON(text), '\n'))
	if err := errors.Join(err, z.Close()); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return out.Bytes(), nil
}

// tagged sends packed JSON, unless the browser has the one with this tag.
func tagged(w http.ResponseWriter, r *http.Request, tag string, text []byte) {
	tag = `"` + tag + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	send(w, r, text)
}

// send writes packed JSON. All browsers support gzip.
func send(w http.ResponseWriter, r *http.Request, text []byte) {
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		http.Error(w, "want Accept-Encoding: gzip", http.StatusNotAcceptable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(text)
}
