package driver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/oxgang/oxgang/live/monitor"
)

// NewMetrics returns a registry with the metrics of Oxgang, Go and the process.
func NewMetrics(tool string) (*prometheus.Registry, *monitor.Metrics, error) {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m, err := monitor.New(r, monitor.Options{Version: tool})
	return r, m, err
}

// ServeMetrics answers GET /metrics until ctx is done, and then returns nil. It refuses requests whose Host header
// names another machine, because a web page could read the metrics with them (DNS rebinding).
func ServeMetrics(ctx context.Context, l net.Listener, r *prometheus.Registry) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", ownHost(promhttp.HandlerFor(r, promhttp.HandlerOpts{Registry: r})))
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 1 << 16}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

func ownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil && !strings.EqualFold(host, "localhost") {
			http.Error(w, "unknown host: use an address or localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
