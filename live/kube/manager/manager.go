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

	"github.com/oxgang/oxgang/live/certs"
	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/config"
	"github.com/oxgang/oxgang/live/kube/pods"
	"github.com/oxgang/oxgang/live/monitor"
)

// Options configure a Run.
type Options struct {
	Config   Config
	Rest     *rest.Config         // how the API server is reached
	Identity string               // of this process, unique
	Tool     string               // name and version, for journals
	Traces   trace.TracerProvider // of rounds; nil: none
}

// Run leads, or waits to lead, until ctx is done, and then returns nil. It returns an error if
// it has lost the leadership or its watches have missed events. The process then has to end,
// and may be started again.
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

// newManager returns the controller-runtime manager, which holds the watches and the lease.
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
	if err := m.GetFieldIndexer().IndexField(context.Background(), &corev1.Pod{}, pods.Index, pods.Keys); err != nil {
		return nil, err
	}
	return m, m.AddHealthzCheck("ping", healthz.Ping)
}

// metricsOptions returns how metrics are served. Tokens, and who may read them, are the API server's to judge.
func metricsOptions(m *Metrics) server.Options {
	o := server.Options{BindAddress: off(m.Address), SecureServing: m.Secure}
	if m.Secure {
		o.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return o
}

// off returns an address as controller-runtime takes it: "0" stands for none.
func off(a Address) string {
	if a.Address == "" {
		return "0"
	}
	return a.Address
}

// A leader serves all queues while it leads.
type leader struct {
	o       Options
	log     *slog.Logger
	manager manager.Manager
	clients kubernetes.Interface // for objects that are not watched: tokens, TrustMap
	metrics *monitor.Metrics
	events  events.EventRecorder      // nil: none are written
	certs   *certs.Server             // nil: the agent API is off, or its certificate is in files
	known   []schema.GroupVersionKind // kinds of job that the cluster has

	mu      sync.Mutex
	running map[string]*running // by name of the queue
	refused map[string]string   // why a queue is not served for a lack of rights; only serveQueues uses it
	turn    config.Turn         // of queues that compare watches with the API server
	rights  rights              // what the API server said that the scheduler may do
	served  served              // what it said that it serves
	classes classes             // of priority
	waits   string              // kind of object whose watch is not up yet; empty: none
}

var _ manager.LeaderElectionRunnable = (*leader)(nil)

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (l *leader) NeedLeaderElection() bool { return true }

// ready is the readiness probe. A process that waits to lead is ready; one that leads is ready
// once its watches show all objects.
func (l *leader) ready(*http.Request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waits != "" {
		return fmt.Errorf("the watch of %s has not come up", l.waits)
	}
	return nil
}

// awaits notes which kind of object has a watch that is not up yet; empty: none.
func (l *leader) awaits(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits = kind
}

// setBackend sets the backend of a queue that is served, and its driver; nil: it has none now.
func (l *leader) setBackend(r *running, w *kube.Backend, d *driver.Driver) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.backend, r.driver = w, d
}
