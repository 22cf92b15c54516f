package manager

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/oxgang/oxgang/live/agentapi"
)

// Version and kind of a configuration file.
const (
	configVersion = "config.oxgang.dev/v1alpha1"
	configKind    = "SchedulerConfiguration"
)

// A Config is the configuration file of oxgang-scheduler.
type Config struct {
	metav1.TypeMeta `json:",inline"`

	LeaderElection leaderElection `json:"leaderElection"`
	Metrics        Metrics        `json:"metrics"`
	Health         Address        `json:"health"`
	Agents         Agents         `json:"agents"`
	Log            log            `json:"log"`
	// Client limits the requests per second for each kind of object; 0: no limit.
	Client Client `json:"client"`
	// Journals is the directory of journals, with a folder per queue; empty: none.
	Journals string `json:"journals,omitempty"`
}

type leaderElection struct {
	Enabled       bool            `json:"enabled"`
	Namespace     string          `json:"namespace,omitempty"` // default oxgang-system
	Name          string          `json:"name,omitempty"`      // default oxgang-leader
	LeaseDuration metav1.Duration `json:"leaseDuration"`       // default 8 s
	RenewDeadline metav1.Duration `json:"renewDeadline"`       // default 5 s
	RetryPeriod   metav1.Duration `json:"retryPeriod"`         // default 1.5 s
}

// An Address is a listen address; empty: off.
type Address struct {
	Address string `json:"address,omitempty"`
}

// Metrics configures the metrics endpoint.
type Metrics struct {
	Address
	// Secure serves metrics by TLS, to clients whose token may get /metrics.
	Secure bool `json:"secure,omitempty"`
}

// Agents configures the agent API.
type Agents struct {
	Address
	Audience     string   `json:"audience,omitempty"`     // of their tokens; default oxgang-agents
	Names        []string `json:"names,omitempty"`        // of the service; default oxgang-agents.oxgang-system.svc
	Certificates string   `json:"certificates,omitempty"` // with tls.crt and tls.key; empty: created
}

type log struct {
	Format string `json:"format,omitempty"` // json or text
	Level  string `json:"level,omitempty"`  // debug, info, warn or error
}

// Client limits requests.
type Client struct {
	QPS   float32 `json:"qps,omitempty"`
	Burst int     `json:"burst,omitempty"`
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	return Config{
		TypeMeta: metav1.TypeMeta{APIVersion: configVersion, Kind: configKind},
		LeaderElection: leaderElection{
			Enabled: true, Namespace: "oxgang-system", Name: "oxgang-leader", LeaseDuration: metav1.Duration{Duration: 8 * time.Second},
			RenewDeadline: metav1.Duration{Duration: 5 * time.Second}, RetryPeriod: metav1.Duration{Duration: 1500 * time.Millisecond},
		},
		Metrics: Metrics{Address: Address{":8080"}, Secure: true}, Health: Address{":8081"}, Agents: Agents{Address: Address{":8443"}, Audience: "oxgang-agents", Names: []string{"oxgang-agents.oxgang-system.svc"}},
		Log: log{Format: "json", Level: "info"}, Client: Client{QPS: 200, Burst: 400},
	}
}

// Load reads a configuration file. Missing keys get defaults; unknown keys are errors.
func Load(path string) (*Config, error) {
	c := DefaultConfig()
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	return &c, nil
}

// Validate returns all errors in c, joined.
func (c *Config) Validate() error {
	var errs []error
	if c.APIVersion != configVersion || c.Kind != configKind {
		errs = append(errs, fmt.Errorf("it is a %s of %s, want a %s of %s", c.Kind, c.APIVersion, configKind, configVersion))
	}
	l := &c.LeaderElection
	if l.Enabled && (l.RetryPeriod.Duration <= 0 || l.RenewDeadline.Duration <= l.RetryPeriod.Duration || l.LeaseDuration.Duration <= l.RenewDeadline.Duration) {
		errs = append(errs, fmt.Errorf("leaderElection: retryPeriod %v, renewDeadline %v, leaseDuration %v, want them more than 0 and ascending",
			l.RetryPeriod.Duration, l.RenewDeadline.Duration, l.LeaseDuration.Duration))
	}
	if c.Log.Format != "json" && c.Log.Format != "text" {
		errs = append(errs, fmt.Errorf("log.format %q, want json or text", c.Log.Format))
	}
	if err := new(slog.Level).UnmarshalText([]byte(c.Log.Level)); err != nil {
		errs = append(errs, fmt.Errorf("log.level %q, want debug, info, warn or error", c.Log.Level))
	}
	if a := &c.Agents; a.Address.Address != "" {
		if a.Audience == "" {
			errs = append(errs, errors.New("agents.audience is empty, want the audience of the workers' tokens"))
		}
		if a.Certificates == "" {
			errs = append(errs, (&agentapi.CertificateOptions{Names: a.Names}).Validate())
		}
	}
	if c.Client.QPS < 0 || c.Client.Burst < 0 {
		errs = append(errs, fmt.Errorf("client: qps %g and burst %d, want at least 0", c.Client.QPS, c.Client.Burst))
	}
	return errors.Join(errs...)
}
