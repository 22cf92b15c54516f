package rig

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// ExitCode is an annotation on a pod of a fake node. The pod ends with this exit code.
	ExitCode = "rig.oxgang.dev/exit"
	// ExitAfter is an annotation on a pod with ExitCode: how long the pod runs, such as "2s"; default 0.
	ExitAfter = "rig.oxgang.dev/exit-after"
	// StopAfter is an annotation on a pod of a fake node: how long the pod takes to end after it is deleted; default 0.
	StopAfter = "rig.oxgang.dev/stop-after"
)

// Exit ends a running pod of a fake node with exit code code.
func (c *Cluster) Exit(ctx context.Context, p *corev1.Pod, code int) error {
	data := fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d"}}}`, ExitCode, code)
	_, err := c.Client().CoreV1().Pods(p.Namespace).
		Patch(ctx, p.Name, types.MergePatchType, []byte(data), v1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("end pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	return nil
}
