package e2e

import (
	"os"
	"time"

	"k8s.io/client-go/rest"

	"github.com/oxgang/oxgang/live/kube/view"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// saysWhatWouldBe asks the scheduler, with what it is installed with, what would be if the job "short" were cancelled, for which "long" waits. Who
// has no right to the object in which that is asked may not.
func (b *bench) saysWhatWouldBe() {
	b.Setenv("PATH", b.Bin+":"+os.Getenv("PATH"))
	as := func(name string, who *rest.Config) *view.Kubectl {
		file, err := b.WriteKubeconfig(name, who)
		if err != nil {
			b.Fatal(err)
		}
		return &view.Kubectl{Flags: []string{"--kubeconfig", file}}
	}
	k := as("asks", b.Config)
	if !k.MayAsk(b.Context(), "oxgang-system") || as("asks-not", b.As("pia")).MayAsk(b.Context(), "oxgang-system") {
		b.Error("an administrator may not ask, or anybody may")
	}
	page := view.NewPage(&view.Looker{Kubectl: k}, "rig")
	page.AskBy(k, "oxgang-system")
	Until(b.Context(), b, within, "what would be if short were cancelled", func() error {
		if err := page.Look(b.Context()); err != nil {
			return err
		}
		a, err := page.Ask(b.Context(), whatif.Question{Cancel: "default/short"}, 0)
		if err != nil {
			return err
		}
		if len(a.Jobs) != 1 || a.Jobs[0].Job != "default/long" || a.StartSooner != 1 || a.Jobs[0].StartsSooner() < 10*time.Second {
			return errNot("%+v", a)
		}
		b.Logf("default/long would get GPUs %v sooner", a.Jobs[0].StartsSooner())
		return nil
	})
}
