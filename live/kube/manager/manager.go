package manager

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"

	"go.opentelemetry.io/otel/trace"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/monitor"
)

// Options configure the process.
type Options struct {
	Config   Config
	Rest     *rest.Config
	Identity string               // unique
	Tool     string               // for journals
	Traces   trace.TracerProvider // nil: none
}

// Run leads, or waits to become the leader, until ctx is done; then it returns nil. After an error the process has lost
// the leadership or events, and must exit.
func Run(ctx context.Context, o Options) error {
	log, err := monitor.NewLogger(os.Stderr, o.Config.Log.Format, o.Config.Log.Level)
	if err != nil {
		return fmt.Errorf("lead: %w", err)
	}
	ctrl.SetLogger(monitor.Logr(log))
	m, err := newManager(&o)
	if err != nil {
		return fmt.Errorf("lead: %w", err)
	}
	rounds, err := monitor.New(metrics.Registry, monitor.Options{Version: o.Tool})
	if err != nil {
		return fmt.Errorf("lead: %w", err)
	}
	clients, err := kubernetes.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("lead: %w", err)
	}
	l := &leader{o: o, log: log, manager: m, clients: clients, metrics: rounds, events: m.GetEventRecorder("oxgang"), running: make(map[string]*running)}
	if err := errors.Join(m.Add(l), m.AddReadyzCheck("watches", l.ready)); err != nil {
		return fmt.Errorf("lead: %w", err)
	}
	if err := m.Start(ctx); err != nil {
		return fmt.Errorf("lead: %w", err)
	}
	return nil
}

func newManager(o *Options) (manager.Manager, error) {
	c := &o.Config
	cfg := rest.CopyConfig(o.Rest)
	cfg.QPS, cfg.Burst = c.Client.QPS, c.Client.Burst
	if cfg.QPS == 0 {
		cfg.QPS = -1
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{authorizationv1.AddToScheme, corev1.AddToScheme, policyv1.AddToScheme, schedulingv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	l := &c.LeaderElection
	m, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme, Metrics: metricsOptions(&c.Metrics), HealthProbeBindAddress: off(c.Health),
		LeaderElection: l.Enabled, LeaderElectionNamespace: l.Namespace, LeaderElectionID: l.Name, LeaderElectionReleaseOnCancel: true,
		LeaseDuration: &l.LeaseDuration.Duration, RenewDeadline: &l.RenewDeadline.Duration, RetryPeriod: &l.RetryPeriod.Duration,
		Cache:  cache.Options{DefaultTransform: slim},
		Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	if err != nil {
		return nil, err
	}
	if err := m.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, inventory.Index, inventory.Keys); err != nil {
		return nil, err
	}
	return m, m.AddHealthzCheck("ping", healthz.Ping)
}

func metricsOptions(m *Metrics) server.Options {
	o := server.Options{BindAddress: off(m.Address), SecureServing: m.Secure}
	if m.Secure {
		o.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return o
}

func off(a Address) string {
	if a.Address == "" {
		return "0"
	}
	return a.Address
}

type leader struct {
	o       Options
	log     *slog.Logger
	manager manager.Manager
	clients kubernetes.Interface // for unwatched objects
	metrics *monitor.Metrics
	events  events.EventRecorder
	certs   *agentapi.Certificate // nil: no agent API, or its certificate is in files
	known   []schema.GroupVersionKind

	mu      sync.Mutex
	running map[string]*running
	refused map[string]string // missing rights by queue; only for serveQueues
	turn    jobstate.Turn
	rights  rights
	served  served
	classes classes
	waits   string // kind of the unready watch; empty: none
}

var _ manager.LeaderElectionRunnable = (*leader)(nil)

func (l *leader) NeedLeaderElection() bool { return true }

// ready is the readiness probe: the watches show all objects.
func (l *leader) ready(*http.Request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waits != "" {
		return fmt.Errorf("the watch of %s is not ready", l.waits)
	}
	return nil
}

func (l *leader) awaits(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits = kind
}

func (l *leader) setBackend(r *running, w *kube.Backend, d *driver.Driver) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.backend, r.driver = w, d
}
