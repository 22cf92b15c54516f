package kube

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/live/kube/view"
)

// Plugin is the name of the program as a plugin of kubectl.
const Plugin = "kubectl-oxgang"

// AsPlugin reports whether the program was called as a plugin of kubectl.
func AsPlugin() bool {
	return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == Plugin
}

// A Connection has the flags of one command about a cluster.
type Connection struct {
	Context, Config, namespace string
	all, bare                  bool // all namespaces; no head of tables
	format                     string
}

// Command returns the command with the subcommands about the scheduler of a cluster.
func Command() *cobra.Command {
	k := new(Connection)
	cmd := &cobra.Command{
		Use: "kubectl", Short: "Show what the scheduler of a Kubernetes cluster decided",
		Long: `Show what the scheduler of a Kubernetes cluster decided, through your own kubectl: your
contexts and permissions hold. A copy of this program, or a link to it, that is called
kubectl-oxgang and lies in PATH makes it "kubectl oxgang".`,
		Example: `  oxgang kubectl jobs -n research
  oxgang kubectl explain job bert
  oxgang kubectl top --watch`,
	}
	if AsPlugin() {
		cmd.Use = Plugin
		cmd.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl oxgang"}
		cmd.Example = strings.ReplaceAll(cmd.Example, "oxgang kubectl", "kubectl oxgang")
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetFlagErrorFunc(cli.FlagError)
	}
	f := cmd.PersistentFlags()
	f.StringVar(&k.Context, "context", "", "context of kubectl to use")
	f.StringVar(&k.Config, "kubeconfig", "", "configuration of kubectl to use")
	f.StringVarP(&k.namespace, "namespace", "n", "", "namespace of jobs; that of the context, if not given")
	f.BoolVarP(&k.all, "all-namespaces", "A", false, "jobs of all namespaces")
	f.BoolVar(&k.bare, "no-headers", false, "tables without their first line")
	cli.Group(cmd)
	cmd.AddCommand(k.queues(), k.jobs(), k.explain(), k.top(), k.plan(), k.ui(), k.release())
	return cmd
}

// command returns a command that shows something in one of several formats, the first of
// which is the default.
func (k *Connection) command(use, short string, formats []string, show func(context.Context, io.Writer, *view.Kubectl, []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cli.NoArgs}
	if _, arg, ok := strings.Cut(use, " "); ok {
		cmd.Args = cli.OneArg(arg)
	}
	var watched bool
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := k.check(formats); err != nil {
			return err
		}
		return Hinted(cli.Show(cmd, watched, func(w io.Writer) error {
			return show(cmd.Context(), w, k.Kubectl(), args)
		}))
	}
	f := cmd.Flags()
	f.StringVarP(&k.format, "output", "o", "", strings.Join(formats, ", "))
	cli.Complete(cmd, "output", formats)
	if cmd.Name() == "top" {
		f.BoolVarP(&watched, "watch", "w", false, "show it anew every 2 s, until Ctrl-C")
	}
	return cmd
}

// check returns an error for wrong flags, and sets the default format.
func (k *Connection) check(formats []string) error {
	if k.format == "" {
		k.format = formats[0]
	}
	if !slices.Contains(formats, k.format) {
		return cli.Misused("output %q, want %s", k.format, strings.Join(formats, ", "))
	}
	if k.all && k.namespace != "" {
		return cli.Misused("--all-namespaces and --namespace %s, want one of them", k.namespace)
	}
	return nil
}

// Kubectl returns the user's kubectl.
func (k *Connection) Kubectl() *view.Kubectl {
	c := new(view.Kubectl)
	if k.Config != "" {
		c.Flags = append(c.Flags, "--kubeconfig", k.Config)
	}
	if k.Context != "" {
		c.Flags = append(c.Flags, "--context", k.Context)
	}
	return c
}

// where returns the namespace to look at; "" for all.
func (k *Connection) where(ctx context.Context, c *view.Kubectl) (string, error) {
	if k.all || k.namespace != "" {
		return k.namespace, nil
	}
	return c.Namespace(ctx)
}

// Hinted returns an error of kubectl with what to do next.
func Hinted(err error) error {
	switch {
	case errors.Is(err, view.ErrNoKubectl):
		return cli.Hinted(err, "install it: https://kubernetes.io/docs/tasks/tools")
	case errors.Is(err, view.ErrForbidden):
		return cli.Hinted(err, `an administrator can let you "get" and "list" queues and plans of oxgang.dev; "kubectl auth can-i list plans.oxgang.dev" asks`)
	case errors.Is(err, view.ErrNoKind):
		return cli.Hinted(err, `Oxgang is not installed there: "helm install oxgang deploy/charts/oxgang" installs it; or choose another cluster with --context`)
	case errors.Is(err, context.Canceled):
		return cli.ErrInterrupted
	}
	return err
}
