package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/policy/registry"
	_ "github.com/oxgang/oxgang/policy/rivals" // all policies
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/workload/generate"
)

// ConfigCommand returns the command "oxgang config".
func ConfigCommand() *cobra.Command {
	var o ConfigFlags
	cmd := &cobra.Command{
		Use: "config", Short: "Print the effective configuration and the origin of each value", Args: NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.Load(cmd)
			if err != nil {
				return err
			}
			return c.WriteYAML(cmd.OutOrStdout())
		},
	}
	o.Add(cmd.Flags())
	CompleteSettings(cmd)
	return cmd
}

// ConfigFlags reads a configuration from defaults, a file, the environment and flags; later sources override earlier
// ones.
type ConfigFlags struct{ file string }

// Add adds the flags for the settings of a configuration.
func (o *ConfigFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&o.file, "config", "", "configuration file (YAML)")
	defaults := config.Default()
	for _, k := range config.Keys() {
		if k.HasOption() {
			AddSetting(f, k, defaults.Get(k.Name))
		}
	}
}

// AddSetting adds the flag for setting k with default value. The flag --set may be given several times.
func AddSetting(f *pflag.FlagSet, k config.Key, value string) {
	f.Var(&setting{text: value, typeName: k.Kind, adds: k.Name == "set"}, k.Option(), k.Doc)
	if k.Flag {
		f.Lookup(k.Option()).NoOptDefVal = "true"
	}
}

// Load returns the configuration after all checks.
func (o *ConfigFlags) Load(cmd *cobra.Command) (*config.Config, error) {
	c := config.Default()
	if o.file != "" {
		if err := readConfig(c, o.file); err != nil {
			return nil, err
		}
	}
	var errs []error
	if err := c.Environment(os.Environ()); err != nil {
		errs = append(errs, UsageError{err})
	}
	for _, k := range config.Keys() {
		if f := cmd.Flags().Lookup(k.Option()); f != nil && f.Changed {
			if err := c.Set(k.Name, f.Value.String(), "flag"); err != nil {
				errs = append(errs, Misused("--%s: %w", k.Option(), unprefixed{err, k.Name + ": "}))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := Check(c); err != nil {
		return nil, UsageError{o.blamed(c, err)}
	}
	return c, nil
}

// Check returns all errors in a configuration.
func Check(c *config.Config) error { return errors.Join(c.Validate(), check(c), contradictions(c)) }

func readConfig(c *config.Config, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.File(f, name)
}

func (o *ConfigFlags) blamed(c *config.Config, err error) error {
	var from []string
	for _, k := range config.Keys() {
		if o.file != "" && c.Origin(k.Name) == o.file {
			from = append(from, k.Name)
		}
	}
	if len(from) == 0 {
		return err
	}
	return Hinted(err, "%s sets %s", o.file, strings.Join(from, ", "))
}

func check(c *config.Config) error {
	var errs []error
	for i, name := range c.Policies {
		if slices.Contains(c.Policies[:i], name) {
			errs = append(errs, fmt.Errorf("policy %s: listed twice", name))
			continue
		}
		_, err := run.NewPolicy(c, name)
		errs = append(errs, err)
	}
	for _, s := range c.Settings {
		errs = append(errs, checkSetting(c, s))
	}
	if c.Placer != "" {
		_, err := registry.NewPlacer(c.Placer, registry.PlacerOptions{Penalty: c.Penalty})
		errs = append(errs, err)
	}
	if c.Format != "" {
		if _, err := trace.Find(c.Format); err != nil {
			errs = append(errs, err)
		}
	}
	if c.Trace == "" {
		errs = append(errs, CheckGenerator(c.Generate.Kind), checkLoad(&c.Generate), checkSplit(&c.Generate))
	}
	return errors.Join(errs...)
}

func checkSetting(c *config.Config, setting string) error {
	key, _, _ := strings.Cut(setting, "=")
	to, _, addressed := strings.Cut(key, ".")
	if addressed {
		if !slices.Contains(registry.Names(), to) {
			return fmt.Errorf("set: %w", config.Unknown(key))
		}
		if !slices.Contains(c.Policies, to) {
			return fmt.Errorf("set: %q is for policy %s, but the chosen policies are %s", setting, to, strings.Join(c.Policies, ", "))
		}
		return nil
	}
	for _, e := range registry.Policies() {
		if slices.Contains(c.Policies, e.Name) && slices.Contains(e.SettingNames(), key) {
			return nil
		}
	}
	return fmt.Errorf("set: no chosen policy (%[2]s) has setting %[1]q", setting, strings.Join(c.Policies, ", "))
}

// CheckGenerator returns an error if there is no generated workload of kind name.
func CheckGenerator(name string) error {
	var names []string
	for _, k := range generate.Kinds() {
		if k.Name == name {
			return nil
		}
		names = append(names, k.Name)
	}
	return fmt.Errorf("generate.kind %q, want one of %s", name, strings.Join(names, ", "))
}

func checkLoad(g *config.Generate) error {
	if g.Load > 0 && generate.DefaultOptions(g.Kind).Load == 0 {
		return fmt.Errorf("generate.load %v: kind %s has no load", g.Load, g.Kind)
	}
	return nil
}

func checkSplit(g *config.Generate) error {
	o := generate.DefaultOptions(g.Kind)
	switch {
	case g.Split == "" && !g.MultiGPU:
		return nil
	case o.Split == "":
		return fmt.Errorf("generate.split and generate.multi-gpu need kind synergy or synergy-static, not %s", g.Kind)
	}
	o.Split = cmp.Or(g.Split, o.Split)
	if err := o.Validate(); err != nil {
		return fmt.Errorf("generate.%w", err)
	}
	return nil
}

func contradictions(c *config.Config) error {
	var errs []error
	for _, p := range [][2]string{
		{"trace", "generate.kind"},
		{"trace", "generate.jobs"},
		{"trace", "generate.span"},
		{"trace", "generate.load"},
		{"trace", "generate.split"},
		{"trace", "generate.multi-gpu"},
		{"public", "estimate.mode"},
	} {
		if from := c.Origin(p[0]); c.IsSet(p[0]) && from == c.Origin(p[1]) && chosen(c.Get(p[0])) {
			errs = append(errs, fmt.Errorf("%s and %s (both by %s) contradict each other; use one of them", p[0], p[1], from))
		}
	}
	if c.Trace == "" && c.Limit > 0 {
		errs = append(errs, fmt.Errorf("limit %d without a trace, want generate.jobs", c.Limit))
	}
	return errors.Join(errs...)
}

func chosen(value string) bool { return value != "" && value != "false" }

type unprefixed struct {
	error
	prefix string
}

func (e unprefixed) Error() string { return strings.TrimPrefix(e.error.Error(), e.prefix) }

// TrimPrefix removes a prefix from the text of an error.
func TrimPrefix(err error, prefix string) error { return unprefixed{err, prefix} }
