package live

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

// KubectlPlugin is the file name of the program if it is a kubectl plugin.
const KubectlPlugin = "kubectl-oxgang"

// AsKubectlPlugin reports whether the program was started as a kubectl plugin.
func AsKubectlPlugin() bool {
	return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == KubectlPlugin
}

// A KubectlConnection has the flags that select the cluster.
type KubectlConnection struct {
	Context, Config, namespace string
	all, bare                  bool // all namespaces; no table headers
	format                     string
	width                      int // of tables
}

// KubectlCommand returns the command "oxgang kubectl".
func KubectlCommand() *cobra.Command {
	k := new(KubectlConnection)
	cmd := &cobra.Command{
		Use: "kubectl", Short: "Show the scheduler's decisions in a Kubernetes cluster",
		Long: `Show the scheduler's decisions in a Kubernetes cluster. It runs your
kubectl, with your contexts and permissions. To call it as "kubectl oxgang", put a link to
this program named kubectl-oxgang in PATH.`,
		Example: `  oxgang kubectl jobs -n research
  oxgang kubectl explain job bert
  oxgang kubectl top --watch`,
	}
	if AsKubectlPlugin() {
		cmd.Use = KubectlPlugin
		cmd.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl oxgang"}
		cmd.Example = strings.ReplaceAll(cmd.Example, "oxgang kubectl", "kubectl oxgang")
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetFlagErrorFunc(cli.FlagError)
	}
	f := cmd.PersistentFlags()
	f.StringVar(&k.Context, "context", "", "context of kubectl")
	f.StringVar(&k.Config, "kubeconfig", "", "configuration file of kubectl")
	f.StringVarP(&k.namespace, "namespace", "n", "", "namespace of jobs (default: of the context)")
	f.BoolVarP(&k.all, "all-namespaces", "A", false, "show jobs of all namespaces")
	f.BoolVar(&k.bare, "no-headers", false, "print tables without headers")
	cli.Group(cmd)
	cmd.AddCommand(k.queues(), k.jobs(), k.explain(), k.top(), k.try(), k.ui(), k.release())
	return cmd
}

func (k *KubectlConnection) command(use, short string, formats []string, show func(context.Context, io.Writer, *view.Kubectl, []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cli.NoArgs}
	if _, arg, ok := strings.Cut(use, " "); ok {
		cmd.Args = cli.OneArg(arg)
	}
	var watched bool
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := k.check(formats); err != nil {
			return err
		}
		k.width = cli.Columns(cmd.OutOrStdout())
		return KubectlHinted(cli.Show(cmd, watched, func(w io.Writer) error {
			return show(cmd.Context(), w, k.Kubectl(), args)
		}))
	}
	f := cmd.Flags()
	f.StringVarP(&k.format, "output", "o", "", strings.Join(formats, ", "))
	cli.Complete(cmd, "output", formats)
	if cmd.Name() == "top" {
		f.BoolVarP(&watched, "watch", "w", false, "refresh every 2 s; on a terminal, use the whole screen")
	}
	return cmd
}

func (k *KubectlConnection) check(formats []string) error {
	if k.format == "" {
		k.format = formats[0]
	}
	if !slices.Contains(formats, k.format) {
		return cli.Misused("output %q, want %s", k.format, strings.Join(formats, ", "))
	}
	if k.all && k.namespace != "" {
		return cli.Misused("use either --all-namespaces or --namespace %s", k.namespace)
	}
	return nil
}

// Kubectl returns the user's kubectl, with these flags.
func (k *KubectlConnection) Kubectl() *view.Kubectl {
	c := new(view.Kubectl)
	if k.Config != "" {
		c.Flags = append(c.Flags, "--kubeconfig", k.Config)
	}
	if k.Context != "" {
		c.Flags = append(c.Flags, "--context", k.Context)
	}
	return c
}

func (k *KubectlConnection) where(ctx context.Context, c *view.Kubectl) (string, error) {
	if k.all || k.namespace != "" {
		return k.namespace, nil
	}
	return c.Namespace(ctx)
}

// KubectlHinted adds a hint to an error of kubectl.
func KubectlHinted(err error) error {
	switch {
	case errors.Is(err, view.ErrNoKubectl):
		return cli.Hinted(err, "install it: https://kubernetes.io/docs/tasks/tools")
	case errors.Is(err, view.ErrForbidden):
		return cli.Hinted(err, `ask an administrator for permission to get and list queues and plans of oxgang.dev; check with "kubectl auth can-i list plans.oxgang.dev"`)
	case errors.Is(err, view.ErrNoKind):
		return cli.Hinted(err, `Oxgang is not installed in this cluster; install it with "helm install oxgang deploy/charts/oxgang", or choose another cluster with --context`)
	case errors.Is(err, context.Canceled):
		return cli.ErrInterrupted
	}
	return err
}
