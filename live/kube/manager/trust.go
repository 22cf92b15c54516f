package manager

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/certs"
)

// TrustMap is the ConfigMap with which workers check the certificate of the agent API, in
// every namespace that a queue names.
const TrustMap = "oxgang-agents-ca"

// certify makes the certificate of the agent API and the authority that signs it. Both are in
// the memory of this leader only: the next one makes others, and workers trust both while both
// are valid. It makes nothing if files hold a certificate, or the agent API is off. It runs
// before the queues are served, since publish needs its result.
func (l *leader) certify() error {
	c := &l.o.Config.Agents
	if c.Address.Address == "" || c.Certificates != "" {
		return nil
	}
	s, err := certs.NewServer(certs.Options{Names: c.Names})
	if err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	if _, err := s.Renew(); err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	l.certs = s
	return nil
}

// publish writes the certificates that workers are to trust into the namespaces of queues that
// lack them. It writes nothing for queues that are only observed.
func (l *leader) publish(ctx context.Context, queues []*v1alpha1.Queue) {
	if l.certs == nil {
		return
	}
	mine := string(l.certs.Trusted())
	for _, q := range queues {
		if q.Spec.Mode == v1alpha1.Observe {
			continue
		}
		for _, ns := range q.Spec.Namespaces {
			if err := l.publishIn(ctx, ns.Name, mine); err != nil {
				l.log.Warn("what agents are to trust was not published", "namespace", ns.Name, "err", err)
			}
		}
	}
}

// publishIn adds certificates to the valid ones that a namespace has.
func (l *leader) publishIn(ctx context.Context, namespace, mine string) error {
	maps := l.clients.CoreV1().ConfigMaps(namespace)
	old, err := maps.Get(ctx, TrustMap, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("ConfigMap %s: %w", TrustMap, err)
	}
	was := ""
	if err == nil {
		was = old.Data[certs.CertificatesKey]
	}
	all := mine + good(was, mine, time.Now())
	if all == was {
		return nil
	}
	_, err = maps.Apply(ctx, applycorev1.ConfigMap(TrustMap, namespace).WithData(map[string]string{certs.CertificatesKey: all}),
		metav1.ApplyOptions{FieldManager: "oxgang", Force: true})
	if err != nil {
		return fmt.Errorf("ConfigMap %s: %w", TrustMap, err)
	}
	return nil
}

// mostTrusted is how many authorities of earlier leaders are trusted, the newest first.
const mostTrusted = 8

// good returns the certificates of a text that are valid now and not among mine.
func good(text, mine string, now time.Time) string {
	var b bytes.Buffer
	rest, n := []byte(text), 0
	for n < mostTrusted {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		c, err := x509.ParseCertificate(block.Bytes)
		one := pem.EncodeToMemory(block)
		if err != nil || now.After(c.NotAfter) || bytes.Contains([]byte(mine), one) {
			continue
		}
		b.Write(one)
		n++
	}
	return b.String()
}
