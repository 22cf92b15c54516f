package slurm

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm/client"
)

// A mode limits what the scheduler may do. Each mode also allows what earlier modes allow.
type mode string

const (
	off    mode = "off"    // undo earlier changes
	order  mode = "order"  // change the places of waiting jobs
	resize mode = "resize" // hold and start jobs; stop and resize elastic ones
)

var modes = []mode{off, order, resize}

// A Config is the administrator's configuration, read again in every round. Changes of Partition, Policy, Settings,
// Round, State and Agents need a restart.
type Config struct {
	Partition string            `yaml:"partition"`
	Accounts  []string          `yaml:"accounts"` // accounts whose jobs the scheduler may change; empty: any
	Mode      mode              `yaml:"mode"`
	Policy    string            `yaml:"policy"`   // default srtf; in mode resize: oxgang
	Settings  map[string]string `yaml:"settings"` // of the policy
	Round     time.Duration     `yaml:"round"`    // time between plans; default 30 s
	Poll      time.Duration     `yaml:"poll"`     // time between observations in mode resize; default 5 s
	Nice      int               `yaml:"nice"`     // largest change of a job's nice value; default 10000
	Commands  int               `yaml:"commands"` // limit of commands per minute; default 60
	Stop      string            `yaml:"stop"`     // path of a file; the mode is off while it exists
	Dry       bool              `yaml:"dry"`      // only log commands
	Grace     time.Duration     `yaml:"grace"`    // time from the request to stop an elastic job until it is stopped; default 60 s
	State     string            `yaml:"state"`    // directory of journals and stored messages
	Agents    Agents            `yaml:"agents"`   // settings of the agent API, for mode resize
}

// Agents configure how the programs of elastic jobs reach the scheduler.
type Agents struct {
	Listen string   `yaml:"listen"` // address and port; empty: not served
	Names  []string `yaml:"names"`  // names of this machine for nodes; the first is in the URL; default: the host name
	// Silence is how long a program may send no message until it is reported; 0: 10 min.
	Silence time.Duration `yaml:"silence"`
	Share   string        `yaml:"share"` // folder that all nodes see and only the scheduler writes
}

// DefaultConfig returns the defaults, without Partition.
func DefaultConfig() Config {
	return Config{
		Mode: order, Round: 30 * time.Second, Poll: 5 * time.Second, Nice: 10000, Commands: 60, Grace: time.Minute,
	}
}

// ReadConfig reads a configuration file.
func ReadConfig(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, d := DefaultConfig(), yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &c, nil
}

// Validate returns an error that joins all that is wrong with c.
func (c *Config) Validate() error {
	var errs []error
	if c.Partition == "" {
		errs = append(errs, errors.New("partition: missing; set the partition to serve"))
	}
	if !slices.Contains(modes, c.Mode) {
		errs = append(errs, fmt.Errorf("mode %q, want off, order or resize", c.Mode))
	}
	for name, d := range map[string]time.Duration{"round": c.Round, "poll": c.Poll} {
		if d < time.Second {
			errs = append(errs, fmt.Errorf("%s %v, want at least 1s", name, d))
		}
	}
	if c.Nice < 0 || c.Nice > mostNice {
		errs = append(errs, fmt.Errorf("nice %d, want 0 to %d", c.Nice, mostNice))
	}
	if c.Commands < 1 {
		errs = append(errs, fmt.Errorf("commands %d, want at least 1", c.Commands))
	}
	if c.Grace < 0 {
		errs = append(errs, fmt.Errorf("grace %v, want at least 0", c.Grace))
	}
	errs = append(errs, c.Agents.validate(c.State))
	_, _, err := driver.NewPolicy(c.policy(), c.settings())
	return errors.Join(append(errs, err)...)
}

func (a *Agents) validate(state string) error {
	if a.Listen == "" {
		return nil
	}
	var errs []error
	if _, port, err := net.SplitHostPort(a.Listen); err != nil || port == "" {
		errs = append(errs, fmt.Errorf("listen %q, want an address and a port like :8446", a.Listen))
	}
	for _, name := range a.Names {
		if name == "" || net.ParseIP(name) != nil {
			errs = append(errs, fmt.Errorf("name %q, want host names, not addresses: certificates have names", name))
		}
	}
	if a.Silence < 0 {
		errs = append(errs, fmt.Errorf("silence %v, want at least 0", a.Silence))
	}
	if state == "" {
		errs = append(errs, errors.New("state: missing; set a directory for stored messages"))
	}
	if err := errors.Join(append(errs, client.CheckFolder(a.Share))...); err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	return nil
}

// mostNice bounds changes of nice values. Slurm's priorities have 32 bits.
const mostNice = 1 << 30

func (c *Config) policy() string {
	switch {
	case c.Policy != "":
		return c.Policy
	case c.Mode == resize:
		return "oxgang"
	}
	return "srtf"
}

// settings returns the settings of the policy. Users have equal shares under oxgang.
func (c *Config) settings() map[string]string {
	all := make(map[string]string, len(c.Settings)+1)
	if c.policy() == "oxgang" {
		all["guarantee"] = "equal"
	}
	maps.Copy(all, c.Settings)
	return all
}

func (c *Config) bounds() *Bounds {
	return &Bounds{Partition: c.Partition, Accounts: c.Accounts}
}

func (c *Config) mode() (mode, string) {
	if c.Stop == "" {
		return c.Mode, ""
	}
	if _, err := os.Lstat(c.Stop); !errors.Is(err, os.ErrNotExist) {
		return off, strings.TrimSpace("file " + c.Stop + " exists")
	}
	return c.Mode, ""
}
