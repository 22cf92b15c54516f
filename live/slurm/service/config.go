// Package service serves the jobs of one partition of a Slurm: round after round it observes, plans and
// gives commands, as far as its administrator's configuration allows, and undoes them when it ends.
package service

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/slurm"
	"github.com/oxgang/oxgang/live/slurm/comment"
)

// A Mode is how much may be done. Each mode may do what those before it may.
type Mode string

// The modes.
const (
	Off    Mode = "off"    // nothing; what was done is undone
	Order  Mode = "order"  // places of waiting jobs are exchanged
	Resize Mode = "resize" // jobs are held and started, elastic ones stopped and started with other sizes
)

// Modes are the modes that there are, the gentlest first.
var Modes = []Mode{Off, Order, Resize}

// A Config is what an administrator allows. It is read again in every round; Partition, Policy,
// Settings, Round, State and Agents hold until the service is started again.
type Config struct {
	Partition string            `yaml:"partition"` // of the jobs that may take part
	Accounts  []string          `yaml:"accounts"`  // of these jobs; empty: any
	Mode      Mode              `yaml:"mode"`
	Policy    string            `yaml:"policy"`   // default srtf; of mode resize: oxgang
	Settings  map[string]string `yaml:"settings"` // of the policy
	Round     time.Duration     `yaml:"round"`    // between plans; default 30 s
	Poll      time.Duration     `yaml:"poll"`     // between looks at Slurm in mode resize; default 5 s
	Nice      int               `yaml:"nice"`     // how far a nice value may be from the one that its job had; default 10000
	Commands  int               `yaml:"commands"` // that change jobs, in a minute at most; default 60
	Stop      string            `yaml:"stop"`     // path: while there is such a file, the mode is off
	Dry       bool              `yaml:"dry"`      // commands are logged and not given
	Grace     time.Duration     `yaml:"grace"`    // from the notice to an elastic job until it is stopped; default 60 s
	State     string            `yaml:"state"`    // directory of the journals, and of what programs said
	Agents    Agents            `yaml:"agents"`   // of mode resize
}

// Agents say how the programs of elastic jobs reach the scheduler.
type Agents struct {
	Listen string   `yaml:"listen"` // address and port; empty: they do not
	Names  []string `yaml:"names"`  // of the machine, as nodes know it: the first is that of the URL; default: the host's
	// Silence is how long a program may say nothing until that is said; 0: 10 min.
	Silence time.Duration `yaml:"silence"`
	Share   string        `yaml:"share"` // folder that all nodes see and only the scheduler writes: URL and certificates are there
}

// Defaults returns the defaults; Partition is still to be filled in.
func Defaults() Config {
	return Config{
		Mode: Order, Round: 30 * time.Second, Poll: 5 * time.Second, Nice: 10000, Commands: 60, Grace: time.Minute,
	}
}

// Read returns the configuration in a file. It returns an error that names the file for a key that is
// unknown, or a value that cannot be.
func Read(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, d := Defaults(), yaml.NewDecoder(bytes.NewReader(text))
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
		errs = append(errs, errors.New("partition: none, want the one to serve"))
	}
	if !slices.Contains(Modes, c.Mode) {
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
	_, _, err := driver.NewPolicy(c.policy(), c.Settings)
	return errors.Join(append(errs, err)...)
}

// validate returns an error that joins all that is wrong. state is the service's.
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
			errs = append(errs, fmt.Errorf("name %q, want names of the machine, no addresses: certificates have names", name))
		}
	}
	if a.Silence < 0 {
		errs = append(errs, fmt.Errorf("silence %v, want at least 0", a.Silence))
	}
	if state == "" {
		errs = append(errs, errors.New("no state, want a directory: what programs said is kept there"))
	}
	if err := errors.Join(append(errs, comment.CheckFolder(a.Share))...); err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	return nil
}

// mostNice is how far a nice value may be moved. Slurm's priorities are of 32 bits.
const mostNice = 1 << 30

// policy returns the name of the policy.
func (c *Config) policy() string {
	switch {
	case c.Policy != "":
		return c.Policy
	case c.Mode == Resize:
		return "oxgang"
	}
	return "srtf"
}

// bounds returns which jobs may take part.
func (c *Config) bounds() *slurm.Bounds {
	return &slurm.Bounds{Partition: c.Partition, Accounts: c.Accounts}
}

// mode returns the mode that holds now: off while the file Stop is there, or cannot be looked for.
func (c *Config) mode() (Mode, string) {
	if c.Stop == "" {
		return c.Mode, ""
	}
	if _, err := os.Lstat(c.Stop); !errors.Is(err, os.ErrNotExist) {
		return Off, strings.TrimSpace("the file " + c.Stop + " says so")
	}
	return c.Mode, ""
}
