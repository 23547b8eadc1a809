"""The keys of security: TLS, SASL, OAuth, delegation tokens.

See `config_key.py` for what a declaration means.
"""

from __future__ import annotations

from typing import Final

from ottla.model.config_key import (
    BOOLEAN,
    CLASS,
    DOUBLE,
    INT,
    LIST,
    LONG,
    LOW,
    PASSWORD,
    PER_BROKER,
    SHORT,
    STRING,
    ConfigKey,
)

SECURITY_KEYS: Final[tuple[ConfigKey, ...]] = (
    # Who is who
    ConfigKey(
        "principal.builder.class",
        CLASS,
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        "Class that makes a principal of what authentication found out.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "connections.max.reauth.ms",
        LONG,
        0,
        "How long a SASL session lasts before the client has to authenticate again; 0 is for ever.",
    ),
    ConfigKey("security.providers", STRING, None, "Extra providers of security algorithms.", importance=LOW),
    # TLS
    ConfigKey(
        "ssl.client.auth",
        STRING,
        "none",
        "Whether clients show a certificate: `required`, `requested` or `none`.",
        choices=("required", "requested", "none"),
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "ssl.principal.mapping.rules",
        STRING,
        "DEFAULT",
        "Rules that turn a certificate's name into a user name.",
        importance=LOW,
    ),
    ConfigKey(
        "ssl.allow.dn.changes",
        BOOLEAN,
        False,
        "Allows a reloaded key store to carry another distinguished name.",
        importance=LOW,
    ),
    ConfigKey(
        "ssl.allow.san.changes",
        BOOLEAN,
        False,
        "Allows a reloaded key store to carry other alternative names.",
        importance=LOW,
    ),
    ConfigKey(
        "ssl.protocol", STRING, "TLSv1.3", "The version of TLS that is tried first.", dynamic=PER_BROKER
    ),
    ConfigKey("ssl.provider", STRING, None, "Implementation of TLS.", dynamic=PER_BROKER),
    ConfigKey(
        "ssl.enabled.protocols",
        LIST,
        ("TLSv1.2", "TLSv1.3"),
        "Versions of TLS that are allowed.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "ssl.cipher.suites",
        LIST,
        (),
        "Cipher suites that are allowed; empty leaves it to the library.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "ssl.keystore.type", STRING, "JKS", "Format of the key store: JKS, PKCS12 or PEM.", dynamic=PER_BROKER
    ),
    ConfigKey(
        "ssl.keystore.location",
        STRING,
        None,
        "File with the key and certificate of this node.",
        dynamic=PER_BROKER,
    ),
    ConfigKey("ssl.keystore.password", PASSWORD, None, "Password of that file.", dynamic=PER_BROKER),
    ConfigKey("ssl.key.password", PASSWORD, None, "Password of the key inside it.", dynamic=PER_BROKER),
    ConfigKey("ssl.keystore.key", PASSWORD, None, "The private key itself, as PEM.", dynamic=PER_BROKER),
    ConfigKey(
        "ssl.keystore.certificate.chain",
        PASSWORD,
        None,
        "The certificate chain itself, as PEM.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "ssl.truststore.type",
        STRING,
        "JKS",
        "Format of the trust store: JKS, PKCS12 or PEM.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "ssl.truststore.location",
        STRING,
        None,
        "File with the certificates that are trusted.",
        dynamic=PER_BROKER,
    ),
    ConfigKey("ssl.truststore.password", PASSWORD, None, "Password of that file.", dynamic=PER_BROKER),
    ConfigKey(
        "ssl.truststore.certificates",
        PASSWORD,
        None,
        "The trusted certificates themselves, as PEM.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "ssl.keymanager.algorithm", STRING, "SunX509", "Algorithm that picks keys.", dynamic=PER_BROKER
    ),
    ConfigKey(
        "ssl.trustmanager.algorithm", STRING, "PKIX", "Algorithm that checks trust.", dynamic=PER_BROKER
    ),
    ConfigKey(
        "ssl.endpoint.identification.algorithm",
        STRING,
        "https",
        "How a server's name is checked against its certificate; empty turns the check off.",
        importance=LOW,
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "ssl.secure.random.implementation",
        STRING,
        None,
        "Source of randomness for TLS.",
        importance=LOW,
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "ssl.engine.factory.class",
        CLASS,
        None,
        "Class that makes TLS engines.",
        importance=LOW,
        dynamic=PER_BROKER,
    ),
    # SASL
    ConfigKey(
        "sasl.enabled.mechanisms",
        LIST,
        ("GSSAPI",),
        "SASL mechanisms that clients may use.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "sasl.mechanism.inter.broker.protocol",
        STRING,
        "GSSAPI",
        "SASL mechanism between brokers.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "sasl.server.max.receive.size",
        INT,
        524_288,
        "The largest message that is read before authentication is complete.",
    ),
    ConfigKey("sasl.jaas.config", PASSWORD, None, "Login settings in JAAS form.", dynamic=PER_BROKER),
    ConfigKey(
        "sasl.server.callback.handler.class",
        CLASS,
        None,
        "Class that answers a mechanism's questions on the server's side.",
    ),
    ConfigKey(
        "sasl.client.callback.handler.class",
        CLASS,
        None,
        "Class that answers a mechanism's questions on the client's side.",
    ),
    ConfigKey("sasl.login.class", CLASS, None, "Class that logs in."),
    ConfigKey("sasl.login.callback.handler.class", CLASS, None, "Class that answers the login's questions."),
    ConfigKey(
        "sasl.login.connect.timeout.ms",
        INT,
        None,
        "How long connecting to a login service may take.",
        importance=LOW,
    ),
    ConfigKey(
        "sasl.login.read.timeout.ms",
        INT,
        None,
        "How long reading from a login service may take.",
        importance=LOW,
    ),
    ConfigKey(
        "sasl.login.retry.backoff.ms", LONG, 100, "First pause between login attempts.", importance=LOW
    ),
    ConfigKey(
        "sasl.login.retry.backoff.max.ms",
        LONG,
        10_000,
        "Longest pause between login attempts.",
        importance=LOW,
    ),
    ConfigKey(
        "sasl.login.refresh.window.factor",
        DOUBLE,
        0.8,
        "Part of a credential's life after which it is renewed.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "sasl.login.refresh.window.jitter", DOUBLE, 0.05, "Random part added to that.", dynamic=PER_BROKER
    ),
    ConfigKey(
        "sasl.login.refresh.min.period.seconds",
        SHORT,
        60,
        "Shortest time between two renewals.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "sasl.login.refresh.buffer.seconds",
        SHORT,
        300,
        "Time before expiry by which a renewal has to be done.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "sasl.kerberos.service.name",
        STRING,
        None,
        "Kerberos name that the brokers run under.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "sasl.kerberos.principal.to.local.rules",
        LIST,
        ("DEFAULT",),
        "Rules that turn Kerberos principals into user names.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "sasl.kerberos.kinit.cmd", STRING, "/usr/bin/kinit", "Path of the kinit command.", dynamic=PER_BROKER
    ),
    ConfigKey(
        "sasl.kerberos.ticket.renew.window.factor",
        DOUBLE,
        0.8,
        "Part of a ticket's life after which it is renewed.",
        dynamic=PER_BROKER,
    ),
    ConfigKey(
        "sasl.kerberos.ticket.renew.jitter", DOUBLE, 0.05, "Random part added to that.", dynamic=PER_BROKER
    ),
    ConfigKey(
        "sasl.kerberos.min.time.before.relogin",
        LONG,
        60_000,
        "Shortest time between two Kerberos logins.",
        dynamic=PER_BROKER,
    ),
    # OAuth
    ConfigKey(
        "sasl.oauthbearer.jwt.retriever.class",
        CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        "Class that fetches tokens.",
    ),
    ConfigKey(
        "sasl.oauthbearer.jwt.validator.class",
        CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        "Class that checks tokens.",
    ),
    ConfigKey("sasl.oauthbearer.scope", STRING, None, "Scope that a token is asked for."),
    ConfigKey(
        "sasl.oauthbearer.client.credentials.client.id", STRING, None, "Client id used to ask for a token."
    ),
    ConfigKey(
        "sasl.oauthbearer.client.credentials.client.secret",
        PASSWORD,
        None,
        "Secret that goes with that client id.",
    ),
    ConfigKey(
        "sasl.oauthbearer.assertion.algorithm",
        STRING,
        "RS256",
        "Algorithm with which an assertion is signed.",
        choices=("ES256", "RS256"),
        any_case=True,
    ),
    ConfigKey("sasl.oauthbearer.assertion.claim.aud", STRING, None, "Audience that an assertion names."),
    ConfigKey(
        "sasl.oauthbearer.assertion.claim.exp.seconds",
        INT,
        300,
        "How long an assertion is valid.",
        low=0,
        high=86_400,
        importance=LOW,
    ),
    ConfigKey("sasl.oauthbearer.assertion.claim.iss", STRING, None, "Issuer that an assertion names."),
    ConfigKey(
        "sasl.oauthbearer.assertion.claim.jti.include", BOOLEAN, False, "Gives each assertion a unique id."
    ),
    ConfigKey(
        "sasl.oauthbearer.assertion.claim.nbf.seconds",
        INT,
        60,
        "How far back an assertion's validity begins.",
        low=0,
        high=3600,
        importance=LOW,
    ),
    ConfigKey("sasl.oauthbearer.assertion.claim.sub", STRING, None, "Subject that an assertion names."),
    ConfigKey("sasl.oauthbearer.assertion.file", STRING, None, "File that holds a ready assertion."),
    ConfigKey(
        "sasl.oauthbearer.assertion.private.key.file",
        STRING,
        None,
        "File with the key that signs assertions.",
    ),
    ConfigKey("sasl.oauthbearer.assertion.private.key.passphrase", PASSWORD, None, "Password of that key."),
    ConfigKey(
        "sasl.oauthbearer.assertion.template.file", STRING, None, "File with fixed parts of assertions."
    ),
    ConfigKey(
        "sasl.oauthbearer.scope.claim.name",
        STRING,
        "scope",
        "Claim of a token that holds its scope.",
        importance=LOW,
    ),
    ConfigKey(
        "sasl.oauthbearer.sub.claim.name",
        STRING,
        "sub",
        "Claim of a token that holds the user name.",
        importance=LOW,
    ),
    ConfigKey("sasl.oauthbearer.token.endpoint.url", STRING, None, "Where tokens are asked for."),
    ConfigKey(
        "sasl.oauthbearer.jwks.endpoint.url", STRING, None, "Where the keys that sign tokens are published."
    ),
    ConfigKey(
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        LONG,
        3_600_000,
        "Pause between reloads of those keys.",
        importance=LOW,
    ),
    ConfigKey(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        LONG,
        100,
        "First pause between attempts to load them.",
        importance=LOW,
    ),
    ConfigKey(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        LONG,
        10_000,
        "Longest pause between attempts to load them.",
        importance=LOW,
    ),
    ConfigKey(
        "sasl.oauthbearer.clock.skew.seconds",
        INT,
        30,
        "Difference of clocks that is tolerated in a token's times.",
        importance=LOW,
    ),
    ConfigKey(
        "sasl.oauthbearer.expected.audience",
        LIST,
        (),
        "Audiences of which a token has to name one.",
        importance=LOW,
    ),
    ConfigKey(
        "sasl.oauthbearer.expected.issuer", STRING, None, "Issuer that a token has to name.", importance=LOW
    ),
    # Delegation tokens
    ConfigKey(
        "delegation.token.secret.key",
        PASSWORD,
        None,
        "Secret with which delegation tokens are signed; the same on every node.",
    ),
    ConfigKey(
        "delegation.token.max.lifetime.ms",
        LONG,
        604_800_000,
        "How long a delegation token may be renewed in all.",
        low=1,
    ),
    ConfigKey(
        "delegation.token.expiry.time.ms",
        LONG,
        86_400_000,
        "How long a delegation token is valid until it is renewed.",
        low=1,
    ),
    ConfigKey(
        "delegation.token.expiry.check.interval.ms",
        LONG,
        3_600_000,
        "Pause between looks for expired delegation tokens.",
        low=1,
        importance=LOW,
    ),
)
