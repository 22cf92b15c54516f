package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/live/kube/view"
)

// plugin is what the program is called as a plugin of kubectl.
const plugin = "kubectl-oxgang"

// asPlugin reports whether the program was called as a plugin of kubectl.
func asPlugin() bool {
	return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == plugin
}

// A kube is one call about a cluster.
type kube struct {
	context, config, namespace string
	all, bare                  bool // all namespaces; no head of tables
	format                     string
}

// kubeCommand returns the commands about the scheduler of a cluster.
func kubeCommand() *cobra.Command {
	k := new(kube)
	cmd := &cobra.Command{
		Use: "kubectl", Short: "Show what the scheduler of a Kubernetes cluster decided",
		Long: `Show what the scheduler of a Kubernetes cluster decided, through your own kubectl: your
contexts and permissions hold. A copy of this program, or a link to it, that is called
kubectl-oxgang and lies in PATH makes it "kubectl oxgang".`,
		Example: `  oxgang kubectl jobs -n research
  oxgang kubectl explain job bert
  oxgang kubectl top --watch`,
	}
	if asPlugin() {
		cmd.Use = plugin
		cmd.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl oxgang"}
		cmd.Example = strings.ReplaceAll(cmd.Example, "oxgang kubectl", "kubectl oxgang")
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetFlagErrorFunc(flagError)
	}
	f := cmd.PersistentFlags()
	f.StringVar(&k.context, "context", "", "context of kubectl to use")
	f.StringVar(&k.config, "kubeconfig", "", "configuration of kubectl to use")
	f.StringVarP(&k.namespace, "namespace", "n", "", "namespace of jobs; that of the context, if not given")
	f.BoolVarP(&k.all, "all-namespaces", "A", false, "jobs of all namespaces")
	f.BoolVar(&k.bare, "no-headers", false, "tables without their first line")
	group(cmd)
	explain := &cobra.Command{Use: "explain", Short: "Say why a job waits or has what it has"}
	group(explain)
	explain.AddCommand(k.explain())
	cmd.AddCommand(k.queues(), k.jobs(), explain, k.top(), k.plan())
	return cmd
}

// command returns a command that shows something in one of several formats, the first of
// which is the default.
func (k *kube) command(use, short string, formats []string, show func(context.Context, io.Writer, *view.Kubectl, []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: noArgs}
	if _, arg, ok := strings.Cut(use, " "); ok {
		cmd.Args = oneArg(arg)
	}
	var watched bool
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := k.check(formats); err != nil {
			return err
		}
		return kubeError(showing(cmd, watched, func(w io.Writer) error {
			return show(cmd.Context(), w, k.kubectl(), args)
		}))
	}
	f := cmd.Flags()
	f.StringVarP(&k.format, "output", "o", "", strings.Join(formats, ", "))
	complete(cmd, "output", formats)
	if cmd.Name() == "top" {
		f.BoolVarP(&watched, "watch", "w", false, "show it anew every 2 s, until Ctrl-C")
	}
	return cmd
}

// check returns what is wrong with the flags, and fills in the format.
func (k *kube) check(formats []string) error {
	if k.format == "" {
		k.format = formats[0]
	}
	if !slices.Contains(formats, k.format) {
		return misused("output %q, want %s", k.format, strings.Join(formats, ", "))
	}
	if k.all && k.namespace != "" {
		return misused("--all-namespaces and --namespace %s, want one of them", k.namespace)
	}
	return nil
}

// kubectl returns the user's kubectl.
func (k *kube) kubectl() *view.Kubectl {
	c := new(view.Kubectl)
	if k.config != "" {
		c.Flags = append(c.Flags, "--kubeconfig", k.config)
	}
	if k.context != "" {
		c.Flags = append(c.Flags, "--context", k.context)
	}
	return c
}

// where returns the namespace to look at; "" for all.
func (k *kube) where(ctx context.Context, c *view.Kubectl) (string, error) {
	if k.all || k.namespace != "" {
		return k.namespace, nil
	}
	return c.Namespace(ctx)
}

// kubeError returns an error of kubectl with what to do next.
func kubeError(err error) error {
	switch {
	case errors.Is(err, view.ErrNoKubectl):
		return hinted(err, "install it: https://kubernetes.io/docs/tasks/tools")
	case errors.Is(err, view.ErrForbidden):
		return hinted(err, `an administrator can let you "get" and "list" queues and plans of oxgang.dev; "kubectl auth can-i list plans.oxgang.dev" asks`)
	case errors.Is(err, view.ErrNoKind):
		return hinted(err, `Oxgang is not installed there: "helm install oxgang charts/oxgang" installs it; or choose another cluster with --context`)
	case errors.Is(err, context.Canceled):
		return errInterrupted
	}
	return err
}
