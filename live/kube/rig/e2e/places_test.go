package e2e

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
)

// TestPlaces: a job whose pods kube-scheduler would not place, or that no controller creates, gets no GPUs or gives them
// up soon. Its condition states why, and other jobs run.
func TestPlaces(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	s := open(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 2}}}, repairs)
	s.play(t, "pods that go past kube-scheduler", bypass)
	s.play(t, "pods that exclude each other", excludeEachOther)
	s.play(t, "pods that no node accepts", waitForLabel)
	s.play(t, "pods that a LimitRange refuses", keepLimits)
}

// special submits a job with changes of its pods.
func (c *scene) special(name string, workers, gpus int, change func(*batchv1.JobSpec)) {
	j := Job(name, c.queue, workers, gpus, nil)
	change(&j.Spec)
	c.make(j)
}

// says waits until the condition of a job has a reason and a text.
func (c *scene) says(job, reason, text string) time.Duration {
	c.Helper()
	return c.until("the condition of "+job+" is "+reason, func() error {
		all := c.job(job).Status.Conditions
		for _, d := range all {
			if d.Type == v1alpha1.ScheduledCondition && d.Reason == reason && strings.Contains(d.Message, text) {
				return nil
			}
		}
		return errNot("%v", all)
	})
}

func bypass(c *scene) {
	var nodes corev1.NodeList
	if err := c.k.List(c.Context(), &nodes); err != nil {
		c.Fatal(err)
	}
	c.special("pinned", 1, 8, func(j *batchv1.JobSpec) { j.Template.Spec.NodeName = nodes.Items[0].Name })
	c.says("pinned", kube.Misconfigured, "nodeName")
	nobody := "example.com/nobody"
	for _, name := range []string{"managed-0", "managed-1"} {
		c.special(name, 1, 8, func(j *batchv1.JobSpec) { j.ManagedBy = &nobody })
	}
	c.says("managed-1", kube.Misconfigured, "managedBy")
	c.special("gated", 1, 8, func(j *batchv1.JobSpec) {
		j.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/never"}}
	})
	c.says("gated", kube.Misconfigured, "example.com/never")
	c.submit("one", 2, 8)
	c.runs("one", 2)
}

func excludeEachOther(c *scene) {
	apart := func(j *batchv1.JobSpec) {
		j.Template.Labels = map[string]string{"a": "b"}
		j.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
		}}}}
	}
	c.special("half", 2, 4, apart)
	c.says("half", kube.Unschedulable, "request all GPUs of a node for each pod")
	c.special("ports", 2, 4, func(j *batchv1.JobSpec) {
		j.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 29500, HostPort: 29500}}
	})
	c.says("ports", kube.Unschedulable, "host ports")
	c.special("whole", 2, 8, apart)
	c.runs("whole", 2)
}

func waitForLabel(c *scene) {
	c.special("picky", 1, 8, func(j *batchv1.JobSpec) { j.Template.Spec.NodeSelector = map[string]string{"pool": "big"} })
	c.says("picky", kube.Unschedulable, "nodeSelector pool=big")
	c.submit("one", 2, 8)
	c.runs("one", 2)
	c.delete(c.job("one"))
	var nodes corev1.NodeList
	if err := c.k.List(c.Context(), &nodes); err != nil {
		c.Fatal(err)
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		c.change(n, func() { n.Labels["pool"] = "big" })
		defer c.change(n, func() { delete(n.Labels, "pool") })
	}
	c.runs("picky", 1)
}

// keepLimits: a LimitRange refuses the pods after the job was started. It gives up its GPUs and states why.
func keepLimits(c *scene) {
	l := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "gpus", Namespace: "default"}}
	l.Spec.Limits = []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{rig.GPU: resource.MustParse("4")}}}
	c.make(l)
	for _, name := range []string{"large-0", "large-1"} {
		c.submit(name, 1, 8)
	}
	c.says("large-0", kube.StepFailed, "maximum nvidia.com/gpu usage per Container is 4")
	c.submit("one", 4, 4)
	c.Logf("another job has the GPUs after %v", c.runs("one", 4).Round(time.Second))
	c.delete(l)
}
