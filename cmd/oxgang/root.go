package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/config"
)

// root returns the command tree.
func root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "oxgang",
		Short:         "The scheduler that gets the most training out of a GPU cluster",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w\nhint: run %q for usage", err, c.CommandPath()+" --help")}
	})
	cmd.AddCommand(simulateCommand(), versionCommand(), configCommand())
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "oxgang", version())
			return err
		},
	}
}

// version returns the module version and commit this program was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v += " " + s.Value[:12]
		}
	}
	return v
}

func configCommand() *cobra.Command {
	var o configFlags
	cmd := &cobra.Command{
		Use: "config", Short: "Print the effective configuration, and where each value came from", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.load(cmd)
			if err != nil {
				return err
			}
			return c.WriteYAML(cmd.OutOrStdout())
		},
	}
	o.add(cmd.Flags())
	return cmd
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument, got %q", cmd.CommandPath(), args[0])}
	}
	return nil
}

// configFlags make a configuration from defaults, a file, the environment and
// flags, each overriding those before.
type configFlags struct{ file string }

func (o *configFlags) add(f *pflag.FlagSet) {
	f.StringVar(&o.file, "config", "", "configuration file (YAML)")
	defaults := config.Default()
	for _, k := range config.Keys() {
		f.String(k.Option(), defaults.Get(k.Name), k.Doc)
		if k.Flag {
			f.Lookup(k.Option()).NoOptDefVal = "true"
		}
	}
}

func (o *configFlags) load(cmd *cobra.Command) (*config.Config, error) {
	c := config.Default()
	if o.file != "" {
		f, err := os.Open(o.file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if err := c.File(f, o.file); err != nil {
			return nil, err
		}
	}
	errs := []error{c.Environment(os.Environ())}
	for _, k := range config.Keys() {
		if f := cmd.Flags().Lookup(k.Option()); f.Changed {
			if err := c.Set(k.Name, f.Value.String(), "flag"); err != nil {
				errs = append(errs, usageError{fmt.Errorf("--%w", err)})
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, c.Validate()
}
