// Generated from openapi.yaml by `npm run generate`. Do not edit.

export interface paths {
    "/api/auth/signup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign up
         * @description Makes a user with a default account and a personal workspace, and answers with a session. An installation can switch
         *     this off; it then answers 501. An e-mail address that is already taken is 409 `name-taken`. Tries are limited for each
         *     address.
         */
        post: operations["signUp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in
         * @description Answers with a session JWT that lives 12 hours. A wrong address and a wrong password look the same: 401
         *     `unauthenticated`. Five bad tries a minute for one client address or e-mail answer 429. Where an OIDC issuer is
         *     configured its JWTs are accepted as sessions directly, without this call.
         */
        post: operations["logIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log out
         * @description Revokes the session's `jti`; the JWT is refused from now on. Tokens and keys are not touched. Takes a session only.
         */
        post: operations["logOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/console": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in to the console
         * @description For the console's own page: the session travels in a cookie that scripts cannot read, and is not in the answer. The
         *     cookie is taken only with the header `X-SVC-Console: 1` and from a page of this origin; another page that asks is 401
         *     `unauthenticated`. Programs use `POST /api/auth/login`. Bad tries are counted as there.
         */
        post: operations["openConsoleSession"];
        /**
         * Log out of the console
         * @description Revokes the session and takes the cookie away. Takes a session only.
         */
        delete: operations["closeConsoleSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/console/oidc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a log-in at the identity provider
         * @description For the console's own page, where `OIDC_CLIENT_ID` is configured; elsewhere 501. Answers the address at the identity provider
         *     to which the person is to be sent (authorization code with PKCE), and sets a cookie that ties the way back to this browser. The
         *     provider sends the person to `/log-in` of this service with `code` and `state`.
         */
        post: operations["beginOidcLogIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/auth/console/oidc/code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish a log-in at the identity provider
         * @description Exchanges the code that the identity provider gave for a session in the console's cookie. A code without the cookie of its
         *     beginning, a state that is not the one given out, and a token that does not fit are 401.
         */
        post: operations["finishOidcLogIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the calling credential
         * @description Identity, plan, credit buckets and the context of the credential: the account it is bound to, its scopes and its reach.
         *     Any valid credential may ask. An account-pinned credential sees its own account's buckets; `workspace_id` is the oldest
         *     workspace the account funds, `null` if none.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count my requests by credential and day
         * @description Daily request counts of the user's tokens, in UTC days, from the token audit log. A session sees all of the user's
         *     credentials; a token or key sees itself.
         */
        get: operations["getMyUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workspaces within reach
         * @description Workspaces the credential can reach, by name. `is_default` marks the one in which a workbook lands that is created
         *     without `workspace_id`: the oldest workspace of the credential's account, or the one the credential is pinned to.
         */
        get: operations["listMyWorkspaces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List my tokens
         * @description The user's tokens, redacted, newest first, revoked ones included; the plaintext is never present. A session sees all of
         *     them, a token or key those of its own account whose reach lies within its own.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Mint a token
         * @description Mints a personal access token, bound to exactly one account. The plaintext is in this answer and nowhere else.
         *
         *     A session may mint anything on the user's accounts. A token or key that has the scope `keys:mint` may mint for its own
         *     account only, with scopes it has itself (else 403 `missing-scope`) and a reach within its own (else 403
         *     `outside-reach`); a workspace or workbook in `resource` that cannot be reached, an unknown one included, is 403
         *     `outside-reach`. An `account_id` that is not the user's is 404.
         *
         *     What a token or key minted ends when it ends, and its requests count against both limits.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/tokens/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a token
         * @description Revokes one of the user's tokens; it is refused from now on. Idempotent: 204 also when it was revoked already. A session
         *     may revoke any of the user's tokens. A token may always revoke itself; for others a token or key needs the scope
         *     `keys:revoke` (else 403 `missing-scope`), and reaches those of its own account within its own reach (else 403
         *     `outside-reach`).
         */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show an account
         * @description One account. Without `account_id` it is the key's own or, for a session, the oldest account, provisioned on first touch.
         *     An account of somebody else is 404; a workspace-pinned key is refused with 403 `outside-reach`.
         */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/account/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete a developer account
         * @description Deletes a developer account with everything it funds. The answer is 202 with a job; the cascade revokes all keys pinned
         *     to the account, deletes each funded workspace with its workbooks, then the account. Remaining credits are forfeited; the
         *     payment customer is never touched.
         *
         *     The rules are checked together and every violation is listed in `errors` with its slug as `type`; the status is that of
         *     the first: the caller must be the owner's session (a key gets 403 `not-owner` alone), the account must be a developer
         *     account (`default-account`), without active or trialing subscription (`subscription-active`), without overage above the
         *     settlement floor (`overage-unsettled`), and `confirm` must equal its name exactly (`confirm-mismatch`).
         */
        post: operations["deleteAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List my accounts
         * @description The default account first (provisioned on first touch), then developer accounts, oldest first. An account key sees its
         *     own account only; a workspace-pinned key is refused with 403 `outside-reach`.
         */
        get: operations["listAccounts"];
        put?: never;
        /**
         * Create a developer account
         * @description Makes a developer account beside the default one. It begins on the free plan and without a workspace. Only the owner's
         *     session may do this; a key gets 403 `not-owner`.
         */
        post: operations["createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/account/usage/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show an account's usage by day
         * @description Daily buckets in UTC. `requests`, `ops` and `credits` are totals of the day; `storage_bytes` and `tables` are the day's
         *     last sample and may be `null`. Days without activity are left out.
         */
        get: operations["getAccountUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/account/billing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show billing
         * @description Plan, period, credit buckets, card (redacted), auto-recharge and overage of one account.
         */
        get: operations["getBilling"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/account/billing/auto-topup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Adjust auto-recharge
         * @description Adjusts or switches off the low-balance auto-recharge. `amount` and `threshold` go back to their defaults when left out.
         *     Without a card on file it is stored and takes effect once there is one.
         */
        patch: operations["configureAutoTopup"];
        trace?: never;
    };
    "/api/control/account/billing/checkout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a subscription
         * @description Opens a checkout page for a Solo or Pro subscription, monthly or annual. Nothing changes until the page is completed. An
         *     account with an active or trialing subscription answers 409 `subscription-active`: use the portal.
         */
        post: operations["startCheckout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/account/billing/payg": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable pay-as-you-go
         * @description Opens a set-up page that saves a card and charges nothing. Completed, the free tier becomes `payg` with auto-recharge
         *     on; there is no monthly fee. An account with an active or trialing subscription answers 409 `subscription-active`.
         */
        post: operations["enablePayg"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/account/billing/portal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open the billing portal
         * @description Opens the provider's portal, in which the person changes the card or cancels the subscription.
         */
        post: operations["openBillingPortal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/account/billing/reuse-card": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Share the default account's card
         * @description A developer account shares the payment customer of the owner's default account. With a card on file there, the account
         *     moves straight to usage billing (`payg` with auto-recharge); without one the customer is shared and the plan stays. The
         *     default account itself answers 409 `default-account`; an account with an active or trialing subscription 409
         *     `subscription-active`.
         */
        post: operations["reuseCard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/account/billing/topup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Buy a credit pack
         * @description Buys a prepaid credit pack, which raises the metering ceiling. With a card on file it is charged at once; otherwise the
         *     answer leads to a checkout page. Send an `Idempotency-Key`: a repeat then never charges twice.
         */
        post: operations["buyCredits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/billing/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a callback of the payment provider
         * @description For the payment provider only. The signature over the raw body is the whole authentication; a missing or wrong one is
         *     403 `bad-signature`. Each event is applied once, in whatever order it comes. With the embedded `ledger` there are no
         *     callbacks and every call is `bad-signature`.
         */
        post: operations["receiveBillingCallback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/billing/checkout/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the ledger's checkout page
         * @description The checkout page of the embedded `ledger` provider, for a browser. The unguessable id is the authorization; it is good
         *     for one hour, then 410. With another provider there are no such sessions (404).
         */
        get: operations["getCheckoutPage"];
        put?: never;
        /**
         * Complete the ledger's checkout
         * @description What the buttons of the checkout page send. `confirm` books the payment or saves the card and applies the plan, `cancel`
         *     ends the session. A session is completed once; again is 409 `in-use`.
         */
        post: operations["completeCheckout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/billing/portal/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the ledger's billing portal
         * @description The billing portal of the embedded `ledger` provider, for a browser. The unguessable id is the authorization; it is good
         *     for one hour, then 410.
         */
        get: operations["getPortalPage"];
        put?: never;
        /**
         * Act in the ledger's billing portal
         * @description What the buttons of the portal send: cancel the subscription, remove the card, or go back.
         */
        post: operations["submitPortal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/account/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List keys
         * @description The account's keys, redacted, newest first, revoked ones included. A workspace-pinned key sees only keys pinned the same
         *     way.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Mint a key
         * @description Mints an account API key. The plaintext is in this answer and nowhere else. The key lives until it is revoked.
         *
         *     The owner's session may mint anything. A key may mint only scopes it has itself (else 403 `missing-scope`) and within
         *     its own reach: a workspace-pinned key mints keys pinned the same way (else 403 `outside-reach`). A `workspace_id` that
         *     cannot be reached, an unknown one included, is 403 `outside-reach`; an `account_id` that is not the caller's is 404.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/account/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a key
         * @description Revokes a key; it is refused from now on. Idempotent: 204 also when it was revoked already. The owner's session and
         *     account-scoped keys manage every key of the account; a pinned key only keys pinned the same way, and itself (else 403
         *     `outside-reach`).
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List workspaces
         * @description Workspaces the account funds, oldest first. A workspace-pinned key sees its own workspace only.
         */
        get: operations["listWorkspaces"];
        put?: never;
        /**
         * Provision a workspace
         * @description Makes an API-managed workspace. It does not change the owner's active workspace. Needs an account-scoped key or the
         *     owner's session; a workspace-pinned key is refused with 403 `outside-reach`.
         */
        post: operations["createWorkspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/workspaces/{workspace_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a workspace
         * @description One workspace. Members may read it. An unknown one, or one of another account, is 404; a pinned key that addresses
         *     another workspace of its account gets 403 `outside-reach`.
         */
        get: operations["getWorkspace"];
        put?: never;
        post?: never;
        /**
         * Delete a workspace
         * @description Deletes an empty managed workspace and revokes the keys pinned to it. Refused with 409 `in-use` while workbooks remain,
         *     and for the built-in personal workspace. Needs the base role `admin`.
         */
        delete: operations["deleteWorkspace"];
        options?: never;
        head?: never;
        /**
         * Configure a workspace
         * @description Applies the fields that are given and no others. `idp_config` and `residency` are stored as declarations: nothing is
         *     synchronized or moved. Needs the base role `admin`.
         */
        patch: operations["configureWorkspace"];
        trace?: never;
    };
    "/api/control/workspaces/{workspace_id}/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List members
         * @description Members with their effective roles: the base role together with the custom roles.
         */
        get: operations["listWorkspaceUsers"];
        put?: never;
        /**
         * Add a member
         * @description Adds an existing user by e-mail address with a base role. For somebody who is a member already it changes the base role
         *     and answers 200. No user with that address: 404. The owner's own role cannot be changed: 409 `in-use`. Needs the base
         *     role `admin`.
         */
        post: operations["addWorkspaceUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/workspaces/{workspace_id}/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member
         * @description Takes a member out of the workspace. Workbooks the person owns stay; the private ones go to the workspace's owner, as
         *     nobody would see them otherwise. The owner cannot be removed: 409 `in-use`. Needs the base role `admin`.
         */
        delete: operations["removeWorkspaceUser"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/workspaces/{workspace_id}/users/{user_id}/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Replace a member's custom roles
         * @description Replaces the whole set of custom roles; the base role stays. Built-in role names are reserved (422). Policies see the
         *     new roles from the next request on. Needs the base role `admin`.
         */
        put: operations["setUserRoles"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List workbooks
         * @description All workbooks the credential can see, own and shared, newest first.
         */
        get: operations["listWorkbooks"];
        put?: never;
        /**
         * Create a workbook
         * @description Makes an empty workbook. Without `workspace_id` it lands in the workspace the credential is pinned to, else in the
         *     oldest workspace of its account; an account without any workspace answers 409 `no-workspace`. A `workspace_id` outside
         *     reach, an unknown one included, is 403 `outside-reach`, and so is every creation by a credential whose reach is one
         *     workbook. Needs the base role `editor`.
         */
        post: operations["createWorkbook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a workbook
         * @description Metadata of one workbook, without message history.
         */
        get: operations["getWorkbook"];
        put?: never;
        post?: never;
        /**
         * Delete a workbook
         * @description Deletes the workbook with everything in it. There is no way back. Only its owner may (403 `not-owner`).
         */
        delete: operations["deleteWorkbook"];
        options?: never;
        head?: never;
        /**
         * Change title or visibility
         * @description Changes the fields that are given. Needs the base role `editor`; only the owner changes `visibility` (403 `not-owner`).
         */
        patch: operations["updateWorkbook"];
        trace?: never;
    };
    "/api/v1/me/workbooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List my own workbooks
         * @description Workbooks owned by the caller, newest first. An unreachable `workspace_id` is 403 `outside-reach`, not an empty page.
         */
        get: operations["listMyWorkbooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/control/workspaces/{workspace_id}/workbooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workbooks of a workspace
         * @description Read-only metadata, filtered by visibility: the caller's own and shared workbooks.
         */
        get: operations["listWorkspaceWorkbooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List jobs
         * @description Recent jobs, newest first. A workbook-scoped credential sees only its workbook's jobs.
         */
        get: operations["listJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a job
         * @description Status, progress and, at the end, `result` (the body of the synchronous form) or `error`. With `wait` the answer comes
         *     when the job is over, at the latest after so many seconds; where too many wait already it comes at once. Jobs survive
         *     restarts and are kept at least an hour after completion; after that 404.
         */
        get: operations["getJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow a job
         * @description The states of a job as server-sent events: the current one at once, then each change of status or progress, and the end,
         *     after which the stream closes. Each event is named `job`, its `data` is the job as `GET …/jobs/{job_id}` shows it, its
         *     `id` names the state. A stream lasts at most five minutes; a client that connects again with `Last-Event-ID` gets what is
         *     new, and 204 where the job is over and its end was seen. 429 where too many streams are open.
         */
        get: operations["followJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a job
         * @description Asks a running job to stop. It becomes `failed` with `error` "cancelled"; nothing is half applied. A finished job is
         *     answered as it is. The deletion of an account cannot be cancelled: 409 `in-use`. Needs the base role `editor`.
         */
        post: operations["cancelJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sources
         * @description Sources with their lifecycle status, newest first.
         */
        get: operations["listSources"];
        put?: never;
        /**
         * Upload a file
         * @description Registers a file as a source. Mode `auto` builds structured tables from a faithful raw copy of each sheet and answers
         *     with every artifact produced; `staged` lands the bytes only. Structuring spends the account's credits; without credits,
         *     or when it fails, the raw tables stay, `structuring` is `raw_fallback` and `notice` says what to do. With `defer` the
         *     answer comes with the raw tables and `job_id`, the job that goes on. Identical bytes in the same workbook answer
         *     200 with the existing source, upgraded where a fuller mode is asked for; the same file name with other bytes makes a new
         *     source with a suffix.
         *
         *     `async` with `staged` is 422. 409 `in-use` while the existing source is analyzed or revised, or when somebody cancels
         *     the job. Files beyond 100 MiB, 1 GiB unpacked, a compression ratio of 200, 16,384 columns or 1,048,576 rows a sheet are
         *     413, and so are those that take more memory or time to read than one file may; other kinds of file 415. Needs the base
         *     role `editor`.
         */
        post: operations["uploadSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sources/cloud": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a file from a drive
         * @description Fetches a file from the user's drive and ingests it as an upload in mode `auto`, with its provenance stamped on the
         *     source. A drive the user has not authorized is 403 `outside-reach`; a file that is not there 404; a provider that is not
         *     configured 501.
         */
        post: operations["importCloudFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sources/from-url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ingest a public address
         * @description Fetches a public address on the server and ingests it as an upload. Private networks, localhost, redirects, other
         *     schemes and answers other than 200 are 400 `url-refused`; the size cap of 100 MiB applies while streaming. Without
         *     `filename` the name is the one that the answer or the address gives, with the extension of what it is. `async` with
         *     `staged` is 422.
         */
        post: operations["ingestUrl"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sources/{source_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a source
         * @description One source, with its parse spec in short once it is analysed.
         */
        get: operations["getSource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sources/{source_name}/analyze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Propose a parse spec
         * @description Reads the file and keeps a proposal of its regions and their columns; nothing is materialized. Running it again makes a
         *     new version and discards earlier corrections. Emits `source.analyzed`. 409 `in-use` while an ingest of the source runs.
         *     403 `governed-workbook` as for the spec.
         */
        post: operations["analyzeSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sources/{source_name}/parse-spec": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the parse spec
         * @description The whole spec at its current version. 404 before the source is analysed. It names all columns of the file, so on a
         *     governed workbook it is refused with 403 `governed-workbook` once a table made from the source has a tag.
         */
        get: operations["getParseSpec"];
        /**
         * Correct the parse spec
         * @description Replaces the spec. `version` must be the current one (else 409 `version-conflict`); the answer carries the next. A spec
         *     that does not fit the file is 422 with a pointer. 404 before the source is analysed. 403 `governed-workbook` as for reading it.
         */
        put: operations["putParseSpec"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sources/{source_name}/materialize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Materialize regions
         * @description Makes tables from regions of the spec: one new table for each region, or rows appended to `target.table` with columns
         *     matched by `column_mapping`, else by name. Default selection: every region of kind `data`. `append` needs `table` and
         *     `expected_version`; a value that does not fit its column is 422 with a pointer, one that does not fit a type of the spec
         *     400 `uncastable-value`. A source that is not analysed yet is 409 `in-use`. Emits `source.materialized`, and `artifact.updated` for each artifact.
         */
        post: operations["materializeSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sources/{source_name}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the original
         * @description The original bytes, byte-identical. Refused on a governed workbook with 403 `governed-workbook`.
         */
        get: operations["downloadSource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sources/{source_name}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show raw cells
         * @description Cells of the original file as shown in the sheet. At most 100,000 cells. With `format` `svg` or `png` a picture of them, with the
         *     regions of the parse spec: headers, computed rows, forms, titles and notes in colour, and what is doubtful in a red frame. A
         *     picture of more than 10,000 cells or 4 million pixels is 413. Refused on a governed workbook with 403 `governed-workbook`.
         */
        get: operations["previewSource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sources/{source_name}/revise": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Feed new bytes to a source
         * @description Ingests a new state of the file under the same source, all or nothing. Its tables get a new version. What people edited
         *     since is merged by cell: edits, added rows and columns stay; where the file changed the same cell its value is written,
         *     and the value that it replaced is kept as a conflict (`GET …/conflicts`). Without the credits that structuring needs the
         *     answer is 402; 409 `in-use` while the source is ingested. Refused on a governed workbook with 403 `governed-workbook`.
         */
        post: operations["reviseSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open an upload slot
         * @description Opens a slot with a signed address, to which anybody who has it can PUT the bytes of one file until it expires. Needs
         *     the base role `editor`.
         */
        post: operations["createUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/uploads/{upload_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show an upload slot
         * @description Status of the slot and, at the end, the source and its artifacts.
         */
        get: operations["getUpload"];
        /**
         * Put the bytes
         * @description Takes the raw bytes and starts the ingest. The signature in the address is the whole authentication: wrong, altered or
         *     missing it is 403 `bad-signature`; past its end 410 `expired`. Who opened the slot must still be allowed to write to the
         *     workbook, and the credential they used must live: else 403 `outside-reach`. A repeat with identical bytes is answered
         *     like the first; other bytes are 409 `in-use`, unless the ingest failed: then the slot takes another PUT until it
         *     expires. 404 once the workbook is gone.
         */
        put: operations["putUpload"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List every artifact within reach
         * @description Every artifact the credential can see, across workbooks, by workbook and name. The catalog is refreshed first.
         */
        get: operations["listMyData"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List artifacts
         * @description Tables, views, sheets, charts and reports of the workbook, archived ones included unless `state` says otherwise.
         */
        get: operations["listArtifacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts/{name}/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the schema of an artifact
         * @description What the caller sees of the columns; denied columns are absent. With `format=json-schema` the answer is a schema of one
         *     row that can be used to validate rows before they are written. `/artifacts/{name}` and `/tables/{name}` address the same
         *     object.
         */
        get: operations["getArtifactSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts/{name}/description": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Describe an artifact
         * @description Sets or clears the description. It makes no new table version.
         */
        put: operations["describeArtifact"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts/{name}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Archive an artifact
         * @description Takes the artifact out of use: it can no longer be queried, its name is free again, registry and lineage remain.
         *     Archiving what is archived changes nothing.
         */
        post: operations["archiveArtifact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts/{name}/unarchive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring an archived artifact back
         * @description Makes the artifact `active` again. 409 `name-taken` where an active one has its name.
         */
        post: operations["unarchiveArtifact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tables
         * @description Tables and views with version and freshness, oldest first; active ones unless `state` says otherwise.
         */
        get: operations["listTables"];
        put?: never;
        /**
         * Create a base table
         * @description Makes an empty base table. Types come from the allow-list `VARCHAR`, `BIGINT`, `DOUBLE`, `DECIMAL(p,s)`, `BOOLEAN`,
         *     `DATE`, `TIMESTAMP`, `TIME`, `JSON`; synonyms are reported as these, others are 422, and so are repeated column names
         *     and `__svc_row_id`. 409 `name-taken` where an active artifact has the name. Needs the base role `editor`.
         */
        post: operations["createTable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a table
         * @description One table, active or archived, with version, freshness, columns (policy-applied), origin and transform.
         */
        get: operations["getTable"];
        put?: never;
        post?: never;
        /**
         * Delete a table
         * @description Deletes the table; snapshots that hold it keep it. 409 `in-use` while something is derived from it. Emits
         *     `artifact.deleted`. Needs the base role `editor`.
         */
        delete: operations["deleteTable"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the schema of a table
         * @description What the caller sees of the columns; denied columns are absent. With `format=json-schema` the answer is a schema of one
         *     row that can be used to validate rows before they are written. `/artifacts/{name}` and `/tables/{name}` address the same
         *     object.
         */
        get: operations["getTableSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Profile a table
         * @description For each visible column: type, null share, distinct values, least, greatest and mean value, top values and a histogram.
         *     Policy-applied.
         */
        get: operations["profileTable"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/lineage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show where a table comes from and goes to
         * @description The graph up to the ranges of the source sheets, archived raw tables included, and down to derived tables, views,
         *     sheets, charts and reports. An edge out of a table says which of its columns matter and for what; columns that are
         *     hidden from the caller are left out. `format=svg` draws it: boxes and arrows from left to right, stale ones marked. Of a
         *     graph of more than 120 boxes the nearest are drawn.
         */
        get: operations["getTableLineage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/columns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the columns of a table
         * @description Columns in order as the caller sees them; denied ones are absent, masked ones are marked.
         */
        get: operations["listColumns"];
        put?: never;
        /**
         * Add a column
         * @description Adds a column at the end, before `__svc_row_id`. `default` is what existing rows show. 409 `name-taken` where the name
         *     exists (a denied column included); 409 `in-use` on a derived table, whose columns are its transform's.
         */
        post: operations["addTableColumn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/columns/{column}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Drop a column
         * @description Drops the column and its classification; old versions keep both. The last data column cannot be dropped, nor a column of
         *     a derived table: 409 `in-use`.
         */
        delete: operations["dropTableColumn"];
        options?: never;
        head?: never;
        /**
         * Rename or retype a column
         * @description Exactly one of `new_name` and `type`. A rename answers with `broken`, the transforms that no longer bind. A retype casts
         *     existing values; a value that cannot be cast cleanly is 400 `uncastable-value` and nothing changes. 409 `name-taken`
         *     where the new name exists; 409 `in-use` on a derived table; a masked column is 403 `insufficient-role`.
         */
        patch: operations["alterTableColumn"];
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/columns/{column}/description": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Describe a column
         * @description Sets or clears the description of a column. It makes no new table version.
         */
        put: operations["describeTableColumn"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts/{name}/columns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a column
         * @description The same as POST …/tables/{name}/columns, at the older address.
         */
        post: operations["addColumn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts/{name}/columns/{column}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Drop a column
         * @description The same as DELETE …/tables/{name}/columns/{column}, at the older address.
         */
        delete: operations["dropColumn"];
        options?: never;
        head?: never;
        /**
         * Rename or retype a column
         * @description The same as PATCH …/tables/{name}/columns/{column}, at the older address.
         */
        patch: operations["alterColumn"];
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts/{name}/columns/{column}/description": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Describe a column
         * @description The same as PUT …/tables/{name}/columns/{column}/description, at the older address.
         */
        put: operations["describeColumn"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a whole table
         * @description All rows of one version in row order, policy-applied, without a cap: a stream that is read as fast as it is taken.
         *     Writes meanwhile do not show in it. `format` or `Accept` chooses the format: JSON (default), NDJSON, Arrow, CSV or
         *     Parquet, which begins to arrive when it is whole. A reader who takes nothing for a minute may be cut off, and
         *     then sees the body end before its end.
         */
        get: operations["readTableData"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/rows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read rows
         * @description A page of rows in row order or as sorted, policy-applied. `format` or `Accept` chooses the format: JSON (default),
         *     NDJSON, Arrow, CSV or Parquet; in all but the first the frame is in headers. A filter
         *     that is not a plain boolean expression over this table is 400 `query-refused`. A version that nothing refers to can be
         *     read for 30 days.
         */
        get: operations["readRows"];
        put?: never;
        /**
         * Insert and update rows
         * @description Writes rows, all or nothing: without `__svc_row_id` a row is inserted, with it the given cells are updated. A value that
         *     does not fit its column's type, an unknown column and an unknown row id are 422 with a pointer to the cell; a write to a
         *     masked column is 403 `insufficient-role`.
         *
         *     With `key` rows are matched by the values of these columns instead: where a row has them its given cells are updated,
         *     where none has a row is inserted. Rows of the table that share the values of a given row, rows of the request that share
         *     them, and a key that is missing or null are 422 with the rows named. It is decided on the version that is written.
         *
         *     The rows can also be sent as lines of JSON (`application/x-ndjson`) or as an Arrow stream
         *     (`application/vnd.apache.arrow.stream`); the other fields are then query parameters, and pointers count the lines or
         *     records as `rows`.
         *
         *     On a mismatch of `expected_version` the 409 carries `current_version` and `changed`; with `rebase: true` the edit is
         *     applied if its cells and the changed cells are disjoint. Derived tables are marked stale, not recomputed. On a derived
         *     table the edit is an override that stays on top of the transform's output; a view, and a derived table without `key`,
         *     take no row edits (409 `in-use`). Needs the base role `editor`.
         */
        post: operations["upsertRows"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/rows/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete rows
         * @description Deletes rows by id, all or nothing; an unknown id is 422 with a pointer. The ids are never given again; undo brings the
         *     rows back under them. Derived tables are marked stale. A view, and a derived table, take no deletes (409 `in-use`).
         *     Needs the base role `editor`.
         */
        post: operations["deleteRows"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one row
         * @description A row by its id, policy-applied, as it is now or was at a version. A row that is not there, or not any more, is 404.
         */
        get: operations["readRow"];
        put?: never;
        post?: never;
        /**
         * Delete one row
         * @description Deletes a row. The checks, the answer to another version and the role are those of deleting many rows; a row that is not
         *     there is 404.
         */
        delete: operations["deleteRow"];
        options?: never;
        head?: never;
        /**
         * Update cells of one row
         * @description Writes the given cells of a row and leaves the others. The checks, the answer to another version and the role are those
         *     of writing many rows; a row that is not there is 404.
         */
        patch: operations["updateRow"];
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/lineage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show where a row came from
         * @description The cells of the sheet, or the rows of the input tables, that this row came from. Both are empty for a row that was
         *     written by hand or whose transform cannot be traced by row.
         */
        get: operations["getRowLineage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show every change of a row
         * @description Changes of one row by cell: old, new, who, when and by which op, newest first. Policy-applied: masked values are `null`,
         *     denied columns absent. A deleted row keeps its history.
         */
        get: operations["getRowHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two versions of a table
         * @description Inserted, updated (by cell) and deleted rows between two versions, policy-applied and capped by `limit` for each kind;
         *     the counts are of all. An unknown side is 404, one that is no longer kept 410.
         */
        get: operations["diffTable"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/range": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a range
         * @description The table addressed like a sheet: row 1 is the header, columns are the policy-applied columns in order, rows are in row
         *     order. Trailing blank rows and columns are left out.
         */
        get: operations["readRange"];
        /**
         * Write a range
         * @description Writes a block of cells as row edits, all or nothing. `range` is the block's exact extent or its top-left cell alone; a
         *     mismatch is 422. `null` leaves a cell as it is, `""` clears it; rows directly past the end are inserted. A value `=…` is
         *     text. A header cell is 422, a masked one 403 `insufficient-role`. Otherwise as `upsertRows`.
         */
        put: operations["writeRange"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/annotations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List annotations
         * @description Style annotations and notes of the table; those on denied columns are left out.
         */
        get: operations["listAnnotations"];
        put?: never;
        /**
         * Set annotations
         * @description Sets styles and notes on cells, rows, columns or the table, all or nothing; each replaces what was on its target. They
         *     change no content and make no new version. An unknown row or column is 422.
         */
        post: operations["annotateTable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/annotations/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove annotations
         * @description Removes the annotations on exactly the given targets; a target without one is passed over.
         */
        post: operations["deleteAnnotations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a query
         * @description Runs one read-only SELECT over the workbook's active tables and views and nothing else: no files, no catalog, no
         *     settings, no other workbook, and of table functions only `range`, `generate_series` and `unnest`. What is refused is 400
         *     `query-refused` and says why; an error of the query itself is 400 `query-failed`. Time and memory are bounded: 400
         *     `query-timeout`, `query-too-large`. An unknown `at` is 404. When too many queries wait, 429.
         *
         *     The result is kept under its `id` for 24 hours, or until newer ones need the room that the account has for results.
         *     It belongs to the credential's user, and can be paged with `getResult`. `format` or `Accept` chooses the format of the first page; in all but JSON the manifest is in headers only. Denied
         *     columns do not exist for the query, masked ones read as NULL.
         */
        post: operations["runQuery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/query/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a query
         * @description Static check and planner dry run; nothing is executed and no result is kept. A query that would be refused or fail is
         *     answered 200 with `valid: false` and the errors.
         */
        post: operations["validateQuery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/results/{result_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a page of a result
         * @description A page of a durable result. `format` or `Accept` chooses JSON (default), NDJSON, Arrow, CSV or Parquet. A result belongs to the user whose
         *     credential made it: for anybody else it is 404; for a credential of the same user whose reach excludes the workbook 403
         *     `outside-reach`. After 24 hours, when newer results needed its room, and once a policy was set that would have changed
         *     it, it is 410 `expired`.
         */
        get: operations["getResult"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search artifacts
         * @description Searches artifacts across all workbooks within reach by name, description, column names and source file names. Denied
         *     columns are never searched or shown.
         */
        get: operations["searchArtifacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/transforms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List transforms
         * @description Transforms of the workbook, by name.
         */
        get: operations["listTransforms"];
        put?: never;
        /**
         * Create and run a transform
         * @description Creates a transform, or replaces the one of the same name, and runs it unless `run` is false. Its output is always
         *     fresh, and what depends on the output is re-run. An argument that names no active table is 422; a cycle is 409 `cycle`
         *     and names it; an output name that belongs to something else is 409 `name-taken`. With `key`, duplicate or null keys fail
         *     the run (400 `query-failed`). If the run fails nothing is created or replaced.
         *
         *     Inputs are read unmasked, so that the stored output never depends on who ran it, and outputs inherit the tags of the
         *     columns they are computed from; using a column that is hidden from the caller is 403 `insufficient-role`. Python runs
         *     without network and files; where the installation cannot isolate it, it is 501 `not-configured`. Needs the base role
         *     `editor`.
         */
        post: operations["createTransform"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/transforms/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a transform
         * @description One transform with its template, arguments and last run.
         */
        get: operations["getTransform"];
        put?: never;
        post?: never;
        /**
         * Delete a transform
         * @description Deletes the transform and its output at the version `expected_version` of the output; `artifact.deleted` fires. 409 `in-use` while something is derived from the output. Needs the base role `editor`.
         */
        delete: operations["deleteTransform"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/transforms/{name}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a transform
         * @description Runs the transform over its inputs as they are now. Overrides stay on top of the output; where the value below one
         *     changed, a `stale_override` conflict is opened. An input that is gone or archived is 409 `in-use`.
         */
        post: operations["runTransform"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/recompute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recompute what is stale
         * @description Re-runs the transforms behind all stale tables and views, in dependency order. Those that fail stay stale and are listed
         *     in `failed`; stale reports are listed in `skipped_reports`. Answers within about 45 seconds, otherwise 202 with a job.
         *     Needs the base role `editor`.
         */
        post: operations["recomputeWorkbook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sheets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sheets
         * @description Sheets of the workbook, by name.
         */
        get: operations["listSheets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sheets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a sheet
         * @description One sheet with its blocks.
         */
        get: operations["getSheet"];
        /**
         * Create or replace a sheet
         * @description Stores the whole sheet. Blocks refer to tables by name and follow them when they are renamed; a block that lacks what its
         *     kind needs, or names a table or column that is not there, is 422 with a pointer. Blocks that alone take more rows than a
         *     sheet holds are 413. 409 `name-taken` where another kind of artifact has the name. Needs the base role `editor`.
         */
        put: operations["putSheet"];
        post?: never;
        /**
         * Delete a sheet
         * @description Deletes the sheet and no data. Emits `artifact.deleted`.
         */
        delete: operations["deleteSheet"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sheets/{name}/render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Render a sheet as xlsx
         * @description Composes the blocks into one xlsx sheet with the tables as they are now, with the styles of their annotations. Masked
         *     columns are blank, denied columns absent. A block whose table is gone shows a note in its place, unless another table has
         *     its name now. More rows than a sheet holds, or a longer text than a cell holds, are 413.
         */
        get: operations["renderSheet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/charts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List charts
         * @description Charts of the workbook with their config and recipe. On a governed workbook both are left out, because they name columns,
         *     and `config_omitted` is `governed`.
         */
        get: operations["listCharts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/charts/{name}/svg": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a chart as a picture
         * @description The chart as SVG, over the rows that its table has now. Refused on a governed workbook with 403 `governed-workbook`; with
         *     413 if the table has more than 100,000 rows or drawing takes too long; with 422 if its table no longer has the columns
         *     that it names.
         */
        get: operations["renderChart"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/charts/{name}/png": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a chart as a PNG picture
         * @description The chart as PNG, twice as large as its SVG, over the rows that its table has now. Refused on a governed workbook with 403 `governed-workbook`; with
         *     413 if the table has more than 100,000 rows or drawing takes too long; with 422 if its table no longer has the columns
         *     that it names.
         */
        get: operations["renderChartPng"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Export tables
         * @description Writes tables to xlsx (one sheet for each table), csv, parquet or NDJSON (one file, or a zip for several tables), all of
         *     them as they are at one moment. Mask and deny apply to the bytes. In xlsx and csv, text that begins with `=`, `+`, `-`,
         *     `@`, a tab or a line break is written so that no program runs it: as a text cell, in csv behind a `'`.
         *     `formula_mode: preserve` is for xlsx only (422 with others); `generate` is refused (422).
         *
         *     `record_branch` freezes the exported rows as a merge base and answers its id in `X-SVC-Branch-Id`; it is for xlsx and csv
         *     (422 with others), needs the scope `workbooks:write` and the base role `editor` as well, and a derived table cannot
         *     branch (400 `derived-cannot-branch`). More rows, columns or text than the format holds are 413.
         *
         *     With an `Idempotency-Key` a repeated request records no second branch: it gets the same tables as they were, under the
         *     same branch id.
         */
        post: operations["exportTables"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/branches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List open branch points
         * @description Open branch points, newest first, one entry for each branched table. A branch stays open and its base never moves.
         */
        get: operations["listBranches"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Merge an edited export
         * @description Merges an edited export into the table: three ways, by row id and cell, against the rows frozen at the branch point. A
         *     cell changed on both sides takes the file's value, and the value it replaced is kept in an `overwrite` conflict. Masked
         *     columns of the file are ignored. Merging the same file twice changes nothing the second time.
         *
         *     A row that the file does not have any more is deleted, and one that was deleted meanwhile and edited in the file comes
         *     back; where the other side had edited it that is a conflict for the row, under the column `__svc_row_id`. Rows without a
         *     row id are added. What a spreadsheet changes by itself is no edit: 15 digits, lost leading zeros, dates, percentages,
         *     truths, blanks at the end. Columns that the file does not have stay as they are.
         *
         *     An unknown row id, or a value of another type, is 422 and reported by row; nothing is half applied. Over 100,000 rows
         *     413; a derived table 400 `derived-cannot-branch`; an unknown branch 404. Derived tables are marked stale. Needs the base
         *     role `editor`.
         */
        post: operations["mergeTable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Merge every table of a returned file
         * @description Finds the branch by `branch_id`, or by the id written into the exported file, and merges every table in it, all or
         *     nothing. A file without a known branch is 404. Otherwise as `mergeTable`.
         */
        post: operations["syncFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/conflicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List conflicts
         * @description The review queue, newest first. Masked values are `null`; conflicts on denied columns are left out.
         */
        get: operations["listConflicts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/conflicts/{conflict_id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close a conflict
         * @description `acknowledge` keeps the current value. `revert`, for `overwrite` conflicts, writes the prior value back as a fresh
         *     attributed edit. `drop_override`, for `stale_override` conflicts, takes the override away. An action that does not fit
         *     the kind, and a conflict that is closed already, are 409 `in-use`. What is written marks derived tables stale. Needs the
         *     base role `editor`.
         */
        post: operations["resolveConflict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts/{name}/sync-bindings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sync-bindings
         * @description The mappings of a table to external sheets, oldest first.
         */
        get: operations["listSyncBindings"];
        put?: never;
        /**
         * Map a table to an external sheet
         * @description Stores the mapping; no synchronization is executed. One external sheet maps to one table: 409 `in-use` where it is bound
         *     to another. Binding the same pair again replaces the settings. A governed table is answered with explicit warnings.
         *     Needs the base role `editor`.
         */
        post: operations["bindSheet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List snapshots
         * @description Snapshots, newest first, the open editing one included.
         */
        get: operations["listSnapshots"];
        put?: never;
        /**
         * Commit the current state
         * @description Commits the editing snapshot, which becomes immutable and can be restored; later edits land on a fresh one. Emits
         *     `snapshot.committed`. Needs the base role `editor`.
         */
        post: operations["commitSnapshot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/snapshots/{snapshot_id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a snapshot
         * @description Destructive: brings every table back to the snapshot's content, as new versions; versions and row ids never go back.
         *     Derived tables are re-run where their inputs differ, tables made later are archived, tags and policies never roll back.
         *     The answer names the snapshot the restored state lies in. An editing snapshot is 409 `in-use`. Needs the base role
         *     `editor`.
         */
        post: operations["restoreSnapshot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List versions
         * @description Named versions, newest first.
         */
        get: operations["listVersions"];
        put?: never;
        /**
         * Commit a named version
         * @description Commits the current state and labels it. A label is unique in its workbook: 409 `name-taken`. Emits
         *     `snapshot.committed`. Needs the base role `editor`.
         */
        post: operations["createVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/versions/{label}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show a version
         * @description One named version with the table versions it pins.
         */
        get: operations["getVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/versions/{label}/revert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revert to a version
         * @description Brings the workbook back to the labelled state, as `restoreSnapshot` does. Needs the base role `editor`.
         */
        post: operations["revertVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/ops": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List ops
         * @description The op log, newest first: what was done to which table, by whom, and whether it can be undone.
         */
        get: operations["listOps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/ops/{op_id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo an op
         * @description Applies the inverse of a `rows.upsert` or `rows.delete` as a new op `rows.undo`; the table gets a new version and
         *     derived tables go stale. A deleted row comes back under its row id. If a cell was changed since, or its column ended, it
         *     is 409 `version-conflict` and `changed` lists the cells. An op of another kind, or one undone already, is 409 `in-use`.
         *     Needs the base role `editor`.
         */
        post: operations["undoOp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log
         * @description Entries newest first, each chained to the one before by its hash. `chain_valid` is false when an entry was altered,
         *     removed or reordered. Entries name denied columns only to callers with `governance:configure`.
         */
        get: operations["listAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Review tables
         * @description Looks for mistakes and answers findings with evidence and a statement of coverage; it changes nothing. `lint` answers
         *     200 if done within about 45 seconds, otherwise 202 with a job; `agent` and `async: true` answer 202 at once. Out of
         *     credits, `agent` is 402 `out-of-credits`, and `lint` with `judge` runs without the model. Where no language model is
         *     configured, or it does not answer, the rules alone are applied, nothing is charged, and `coverage.statement` says so.
         *     On a governed workbook it is 403 `governed-workbook`. An unknown target is 404. `save` needs the scope
         *     `workbooks:write` and the base role `editor` as well.
         */
        post: operations["reviewWorkbook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts/{name}/columns/{column}/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Attach a tag
         * @description Attaches a sensitivity tag to a column. It flows forward to the columns derived from it and back to raw columns that
         *     hold the same cells. Attaching it again changes nothing. Needs the base role `editor`.
         */
        post: operations["tagColumn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts/{name}/columns/{column}/tags/{tag}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take a tag off
         * @description Takes the tag off this column, an inherited one included; its policies stop applying to the column. Other columns keep
         *     it. A tag that is not there is 404. Needs the base role `editor`.
         */
        delete: operations["untagColumn"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/classifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tags of all columns
         * @description All column tags of the workbook. Columns that are denied to the caller are named only to callers with
         *     `governance:configure`.
         */
        get: operations["listClassifications"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List policies
         * @description All rules of the workbook.
         */
        get: operations["listPolicies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/policies/{tag}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a rule
         * @description Sets the rule for a tag and a role. For one tag a rule for a role the caller holds beats the `*` rule, and of several
         *     such rules the strictest wins; over a column's tags the strictest wins. The first rule makes the workbook governed: raw
         *     bytes are refused from then on, and results that it would have changed are gone. Nobody is exempt. Needs the base role
         *     `editor`.
         */
        put: operations["setPolicy"];
        post?: never;
        /**
         * Remove rules
         * @description With `role` that role's rule goes, without it all rules of the tag. The tag stays on the columns. 404 where there is no
         *     such rule. Needs the base role `editor`.
         */
        delete: operations["deletePolicy"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/tables/{name}/access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what a role would see
         * @description Dry run of the policies: for each column the effect, its tags and the rule that decided. Columns that are denied to the
         *     caller are named only to callers with `governance:configure`; `denied_count` counts them for everybody.
         */
        get: operations["previewAccess"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/file-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tracked files
         * @description Tracked cloud and local files with their versions, newest last.
         */
        get: operations["listFileLinks"];
        put?: never;
        /**
         * Track a drive file
         * @description The file's current bytes become version 1 and feed the source of the same name, which is made if there is none. A name
         *     that is tracked already, or of a source with no sheet in common, is 409 `name-taken`: use `as_name`. A drive the user has not authorized is 403 `outside-reach`, a
         *     file that is not there 404, one that is no spreadsheet 415, a provider that is not configured 501. With `every` the
         *     service looks for changes by itself. Needs the base role `editor`.
         */
        post: operations["trackCloudFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/file-links/local": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Track a local file
         * @description Tracks a file that lives on somebody's machine. `on_existing` says what happens when the service has a source of that
         *     name; where it refuses the answer is 409 `name-taken`, and so it is for a name that is tracked already. Spreadsheets are
         *     tracked (xlsx, xlsm, csv, tsv); other files are 415. What people edited in the tables since is merged with the file: the
         *     file wins where both changed a cell, and a conflict keeps the other value. 409 `in-use` while an ingest of the source
         *     runs. Needs the base role `editor`.
         */
        post: operations["trackLocalFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/file-links/{link_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Follow a drive file, or stop
         * @description Sets how often the service looks for changes of a drive file, in the name of the caller; `null` stops it. A local file is
         *     409 `in-use`: it is pushed. Needs the base role `editor`.
         */
        patch: operations["updateFileLink"];
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/file-links/{link_id}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pull the drive copy now
         * @description Fetches the drive copy. A changed file becomes a new version and re-ingests the source; identical bytes cut no version
         *     (`changed: false`). Edits of the tables are merged, as for a push. A local link is 409 `in-use`: push to it. Otherwise
         *     as for tracking. Needs the base role `editor`.
         */
        post: operations["syncFileLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/file-links/{link_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Push a new state of a file
         * @description Takes new bytes of a tracked local file. Changed bytes become a new version and re-ingest the source; identical bytes cut
         *     no version (`changed: false`). Rows that are found again keep their ids. What people edited in the tables since is merged
         *     with the file: the file wins where both changed a cell, and a conflict keeps the other value. A drive file is 409
         *     `in-use`: sync it; so is a source that is being ingested. Needs the base role `editor`.
         */
        post: operations["pushFileLinkVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/file-links/{link_id}/versions/{n}/cells": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the cells of a file version
         * @description Non-empty cells as pairs of address and value. Refused on a governed workbook with 403 `governed-workbook`.
         */
        get: operations["getFileLinkCells"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/file-links/{link_id}/versions/{n}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two file versions
         * @description Changed cells by sheet, capped by `limit` for each sheet. Version 1 without `against` is compared with nothing: every
         *     cell is new. Refused on a governed workbook with 403 `governed-workbook`.
         */
        get: operations["diffFileLinkVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/file-links/{link_id}/versions/{n}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a file version
         * @description The original bytes. Refused on a governed workbook with 403 `governed-workbook`.
         */
        get: operations["downloadFileLinkVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/file-links/{link_id}/versions/{n}/revert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ingest an earlier file version again
         * @description Re-ingests version `n` as a new version of kind `revert`; the file on the drive is not touched. The bytes of the current
         *     version cut no version (`changed: false`). Edits of the tables are merged, as for a push. Needs the base role `editor`.
         */
        post: operations["revertFileLinkVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/authorize/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * May the service read my drive
         * @description Whether the service may read the user's drive and, if not, the page on which the user allows it. A provider that is not
         *     configured is 501.
         */
        get: operations["getDriveAuthorization"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cloud-files/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List importable files of a drive
         * @description Folders first, then files the service can import. A drive the user has not authorized is 403 `outside-reach`: see
         *     `getDriveAuthorization`. A provider that is not configured is 501.
         */
        get: operations["listCloudFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/oauth/{provider}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * End of a drive authorization
         * @description Where the drive provider sends the user's browser back to. The signed `state` is the whole authentication: altered it is
         *     403 `bad-signature`, after an hour 410 `expired`. The answer is a page that says how it went, a refusal included.
         */
        get: operations["finishDriveAuthorization"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read events
         * @description The events that the caller may see, oldest first: a page as JSON, or a stream of server-sent events that goes on (`Accept: text/event-stream`), resumable by `Last-Event-ID`. For programs that cannot be called by a webhook. Both begin with the oldest event that is kept, or after the one that `Last-Event-ID` or `cursor` names. Events are kept for 30 days; an id that is not known any more is 410 `expired`.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List my webhooks
         * @description The user's subscriptions within the credential's reach, newest first. Secrets are never present.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Subscribe to events
         * @description Makes a personal subscription; there is no workspace-wide one. The signing secret is in this answer and nowhere else.
         *     The webhook has the reach of the credential that makes it. The address is checked against private networks now and at
         *     every connection: 400 `url-refused`. A user has at most 100 webhooks; one more is 403 `quota-exceeded`.
         *
         *     Deliveries are at least once, in order for one workbook and one webhook; 15 seconds, redirects not followed, success is
         *     2xx, 410 switches the webhook off.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unsubscribe
         * @description Deletes the subscription and what is still waiting to be delivered.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/webhooks/{webhook_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries
         * @description Recent deliveries, newest first, with attempt count, last status and last error.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver again
         * @description Puts the delivery back in its queue, at once and with a full set of tries. `X-SVC-Delivery` stays the same. A disabled
         *     webhook is 409 `in-use`.
         */
        post: operations["redeliverEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Sends an event of type `webhook.test`, signed like any other. A disabled webhook is enabled again by a test that
         *     succeeds.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/webhooks/{webhook_id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret
         * @description Gives a new secret, shown this once. The new and the previous one both sign for 24 hours.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open the MCP event stream
         * @description Takes up the stream of an answer that broke, after the event that `Last-Event-ID` names; answers are kept for ten
         *     minutes. Without `text/event-stream` in `Accept` or without `Last-Event-ID` it is 405, since nothing is sent that was
         *     not asked for; without `Mcp-Session-Id` 400 `malformed-request`, with an ended session 404.
         */
        get: operations["openMcpStream"];
        put?: never;
        /**
         * Send an MCP message
         * @description Streamable HTTP transport of the Model Context Protocol: one JSON-RPC message. A request is answered as JSON or as an
         *     event stream, as `Accept` allows: calls that change something as a stream, which GET takes up again when it breaks. A
         *     notification or response is answered with 202. `initialize` answers with `Mcp-Session-Id`, which every later message
         *     must carry: missing it is 400 `malformed-request`; a session that has ended, is a day old without use, or belongs to
         *     another credential is 404, and the client begins again. A credential has 50 sessions at most; the one that was not used
         *     for longest ends. Any valid credential may connect, but no page of another origin that the installation does not let in; each tool needs the scopes, reach and policies of the operation it
         *     stands for, and what it is refused comes back as a tool error. Tools: listing, search, schema, profile, lineage, rows,
         *     query, edits, uploads, review, and charts (`create_chart`: a Vega-Lite config and its recipe; `delete_chart`). Tables
         *     are resources, too.
         */
        post: operations["postMcp"];
        /**
         * End an MCP session
         * @description Ends the session. Without `Mcp-Session-Id` it is 400 `malformed-request`, with an unknown or ended session 404.
         */
        delete: operations["closeMcpSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What this is
         * @description Name, version, whether every part works (the check of `GET /readyz`), how people log in, and where to go on. A browser,
         *     which asks for `text/html`, gets the console, the page for people; so it does under `/workbooks`, `/settings` and
         *     `/log-in`, which are addresses inside that page.
         */
        get: operations["getHome"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/{asset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A part of the console
         * @description Scripts, styles and pictures of the console, the page for people at `/`. Their names carry a hash of their content, so
         *     they never change.
         */
        get: operations["getConsoleAsset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the process alive
         * @description Answers as long as the process can. Touches no other part.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Can the service do its work
         * @description Checks database, blob store, Temporal and query processes. If one cannot be reached the answer is 503 `unavailable` and
         *     `errors` names it. If only no worker asks for tasks, the answer is 200, `workers` is `away` and `notice` says what that
         *     means: jobs wait, everything else works.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics
         * @description Prometheus text format, for operators: only for the addresses of `SVC_METRICS_ADDRESSES`, which is the machine itself
         *     unless the installation says otherwise, and for whoever sends the installation's `SVC_METRICS_TOKEN` as
         *     `Authorization: Bearer`. It carries no content and no names.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.yaml": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This contract
         * @description The contract the running service was started with.
         */
        get: operations["getContract"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This contract as JSON
         * @description The same document as `GET /openapi.yaml`.
         */
        get: operations["getContractJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/guide": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The guide
         * @description The README as a page, with links to the other documents.
         */
        get: operations["getGuide"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/guide/{page}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A page of the guide
         * @description One of the documents that come with the service, as a page.
         */
        get: operations["getGuidePage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The rendered reference
         * @description This contract as a page for people.
         */
        get: operations["getReference"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/{asset}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A part of the reference page
         * @description Scripts, styles and pictures of the reference page. Nothing is loaded from elsewhere.
         */
        get: operations["getReferenceAsset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workbooks/{workbook_id}/artifacts/{name}/sync-bindings/{binding_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a sync-binding
         * @description Removes the mapping; the external sheet is not touched. Needs the base role `editor`.
         */
        delete: operations["unbindSheet"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A block of cells, `B2:D10`, or one cell, `B2`. */
        A1Range: string;
        /** @description Cells of a range. */
        A1Response: {
            /** @description The range as read; trailing blank rows and columns are left out. */
            range: string;
            /** @description Rows of cells. */
            values: (string | number | boolean | null)[][];
        };
        /** @description Cells to write. */
        A1WriteRequest: {
            /** @description The block's exact extent, or its top-left cell alone. */
            range: components["schemas"]["A1Range"];
            /** @description Rows of cells. */
            values: (string | number | boolean | null)[][];
            expected_version: components["schemas"]["ExpectedVersion"];
            actor?: components["schemas"]["Actor"];
            /**
             * @description On a version mismatch, apply the edit when its cells and the changed cells are disjoint.
             * @default false
             */
            rebase?: boolean;
        };
        /** @description Cells after the write. */
        A1WriteResponse: {
            /** @description The range written. */
            range: string;
            /** @description Rows of cells as they are now. */
            values: (string | number | boolean | null)[][];
            /**
             * Format: int64
             * @description New version.
             */
            edit_version: number;
            /**
             * Format: int64
             * @description The op.
             */
            op_id: number;
            /** @description Derived tables that went stale. */
            stale: string[];
        };
        /** @description A subject of contract and payment. */
        Account: {
            id: components["schemas"]["AccountId"];
            /** @description Name. */
            name: string;
            /**
             * @description `default` is the user's own, provisioned at first touch; `developer` accounts are made explicitly.
             * @enum {string}
             */
            kind: "default" | "developer";
            owner_id: components["schemas"]["UserId"];
            plan: components["schemas"]["Plan"];
            plan_status: components["schemas"]["PlanStatus"];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
        };
        /** @description New settings of auto-recharge. */
        AccountAutoTopupRequest: {
            /** @description Whether it is on. */
            enabled: boolean;
            /**
             * @description Credits bought at a time. Fewer than 100 would be a payment that card networks refuse.
             * @default 5000
             */
            amount?: number;
            /**
             * @description It buys when fewer credits than this remain.
             * @default 1000
             */
            threshold?: number;
            /** @description The account; default as for `GET /api/control/account`. */
            account_id?: string | null;
        };
        /** @description Identifier of an account. */
        AccountId: string;
        /** @description The default account first, then developer accounts, oldest first. */
        AccountList: {
            /** @description The page. */
            accounts: components["schemas"]["Account"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /**
         * @description Who is acting, as free text for the op log and the audit log. It never replaces the credential, which is always
         *     recorded.
         */
        Actor: string | null;
        /** @description A column to add. */
        AddColumnRequest: {
            /** @description Name. */
            column: string;
            expected_version: components["schemas"]["ExpectedVersion"];
            /**
             * @description Type from the create-table allow-list.
             * @default VARCHAR
             */
            type?: string;
            /** @description Value of the column in existing rows; `null` when left out. */
            default?: unknown;
            actor?: components["schemas"]["Actor"];
        };
        /** @description Whom to add. */
        AddMemberRequest: {
            /**
             * Format: email
             * @description E-mail address of an existing user.
             */
            email: string;
            role: components["schemas"]["BaseRole"];
        };
        /** @description A rename or a retype, exactly one of them. */
        AlterColumnRequest: {
            expected_version: components["schemas"]["ExpectedVersion"];
            /** @description New name. */
            new_name?: string | null;
            /** @description New type. */
            type?: string | null;
            actor?: components["schemas"]["Actor"];
        } & ({
            new_name: string;
        } | {
            type: string;
        });
        /** @description An analysis of a source. */
        AnalyzeJob: {
            job_id: components["schemas"]["JobId"];
            /**
             * @description What it does. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "analyze";
            /** @description `pending` → `running` → `succeeded` or `failed`; a cancelled job is `failed`. */
            status: components["schemas"]["JobStatus"];
            /** @description The workbook it works on; `null` for account jobs. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description How far it is; `null` before it begins. */
            progress: components["schemas"]["JobProgress"] | null;
            /** @description On failure: a short message. */
            error?: string;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ended; `null` until then.
             */
            finished_at: string | null;
            /** @description On success: the same body as the synchronous form. */
            result?: components["schemas"]["ParseSpec"];
        };
        /** @description Annotations to set. */
        AnnotateRequest: {
            /** @description The annotations. */
            annotations: components["schemas"]["StyleAnnotation"][];
            actor?: components["schemas"]["Actor"];
        };
        /** @description The annotations as stored. */
        AnnotateResponse: {
            /** @description In the order of the request. */
            annotations: components["schemas"]["Annotation"][];
        };
        /** @description An annotation. */
        Annotation: {
            target: components["schemas"]["AnnotationTarget"];
            /** @description How it looks. */
            style: components["schemas"]["Style"] | null;
            /** @description A note. */
            note: string | null;
            /** @description Who set it, as given. */
            actor: string | null;
            /**
             * Format: date-time
             * @description When it was set.
             */
            updated_at: string;
        };
        /** @description Annotations, by row and column. */
        AnnotationList: {
            /** @description The page. */
            annotations: components["schemas"]["Annotation"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description What an annotation is about: a cell (both), a row, a column, or the table (neither). */
        AnnotationTarget: {
            /**
             * Format: int64
             * @description The row.
             */
            row_id?: number;
            /** @description The column. */
            column?: string;
        };
        /** @description A column in an artifact's summary. */
        ArtifactColumn: {
            /** @description Name of the column. */
            name: string;
            /** @description Type of the column. */
            type?: string;
        } & {
            [key: string]: unknown;
        };
        /** @description An artifact is gone. */
        ArtifactDeletedData: {
            /** @description Id of the table or other artifact. */
            artifact_id: string;
            /** @description Its name. */
            name: string;
            kind: components["schemas"]["EventArtifactKind"];
            /**
             * Format: int64
             * @description The table's version; `null` for what has none.
             */
            edit_version: number | null;
        };
        /** @description An artifact is gone. */
        ArtifactDeletedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Kind of event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "artifact.deleted";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workbook. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description Its workspace. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Who, as given. */
            actor: string | null;
            data: components["schemas"]["ArtifactDeletedData"];
        };
        /** @description Description of an artifact. */
        ArtifactDescription: {
            /** @description Name. */
            name: string;
            /** @description What it holds. */
            description: string | null;
        };
        /** @description A description. */
        ArtifactDescriptionBody: {
            /** @description What it holds; `null` clears it. */
            description?: string | null;
        };
        /** @description Artifacts, oldest first. */
        ArtifactListResponse: {
            /** @description The page. */
            artifacts: components["schemas"]["ArtifactSummary"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description Columns, size and a sample. */
        ArtifactSchema: {
            /** @description Name. */
            name: string;
            /**
             * Format: int64
             * @description Version it describes.
             */
            edit_version: number;
            /** @description Columns in order, policy-applied. */
            columns: components["schemas"]["ColumnInfo"][];
            /**
             * Format: int64
             * @description Rows.
             */
            row_count: number;
            /** @description The first rows, at most five. */
            sample: components["schemas"]["Row"][];
            /** @description Columns that read as NULL for the caller. */
            masked_columns: string[];
        };
        /** @description An input of a derived artifact moved on. */
        ArtifactStaleData: {
            /** @description Id of the table or other artifact. */
            artifact_id: string;
            /** @description Its name. */
            name: string;
            kind: components["schemas"]["EventArtifactKind"];
            /**
             * Format: int64
             * @description The table's version; `null` for what has none.
             */
            edit_version: number | null;
            /**
             * Format: date-time
             * @description Since when.
             */
            stale_since: string;
            /** @description Names of the inputs that moved. */
            inputs: string[];
        };
        /** @description An input of a derived artifact moved on. */
        ArtifactStaleEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Kind of event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "artifact.stale";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workbook. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description Its workspace. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Who, as given. */
            actor: string | null;
            data: components["schemas"]["ArtifactStaleData"];
        };
        /**
         * @description `archived` ones are kept, and left out of queries.
         * @enum {string}
         */
        ArtifactState: "active" | "archived";
        /** @description State of an artifact. */
        ArtifactStateResponse: {
            /** @description Name. */
            name: string;
            /** @description State. */
            state: components["schemas"]["ArtifactState"];
            /** @description Name to use in SQL. */
            table_name?: string | null;
            /** @description Kind of artifact. */
            type?: string | null;
        };
        /** @description An artifact of a workbook: a table, a view, a sheet, a chart or a report. More fields than these may be present. */
        ArtifactSummary: {
            /** @description Name, unique among the active artifacts of its workbook. */
            name: string;
            /** @description Kind of artifact: `table`, `view`, `sheet`, `chart` or `report`. */
            type: string;
            /** @description What it holds. */
            description?: string | null;
            /** @description Id; a table can be named by it. */
            id?: string | null;
            /**
             * Format: int64
             * @description Rows, for tables and views.
             */
            row_count?: number | null;
            /** @description Columns, policy-applied; `null` where the artifact has none or the list leaves them out. */
            schema?: components["schemas"]["ArtifactColumn"][] | null;
            /**
             * @description `archived` artifacts keep their place in registry and lineage.
             * @default active
             */
            state?: components["schemas"]["ArtifactState"];
            /** @description Name to use in SQL, equal to `name`; `null` where it cannot be queried. */
            table_name?: string | null;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at?: string | null;
            /** @description Workbook it lies in. */
            workbook_id?: string | null;
            /**
             * Format: int64
             * @description Current version.
             */
            edit_version?: number;
            freshness?: components["schemas"]["Freshness"];
        } & {
            [key: string]: unknown;
        };
        /** @description A table has a new version, or an artifact changed. */
        ArtifactUpdatedData: {
            /** @description Id of the table or other artifact. */
            artifact_id: string;
            /** @description Its name. */
            name: string;
            kind: components["schemas"]["EventArtifactKind"];
            /**
             * Format: int64
             * @description The table's version; `null` for what has none.
             */
            edit_version: number | null;
            /** @description Given when it changed. */
            state?: components["schemas"]["ArtifactState"];
        };
        /** @description A table has a new version, or an artifact changed. */
        ArtifactUpdatedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Kind of event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "artifact.updated";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workbook. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description Its workspace. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Who, as given. */
            actor: string | null;
            data: components["schemas"]["ArtifactUpdatedData"];
        };
        /** @description An entry of the audit log. */
        AuditEntry: {
            /**
             * Format: int64
             * @description Number in the chain, without gaps.
             */
            seq: number;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description Who, as given. */
            actor: string | null;
            /** @description Who, by credential; `null` for the service itself. */
            user_id: components["schemas"]["UserId"] | null;
            credential: components["schemas"]["OpCredential"];
            /** @description What was done, e.g. `policy.set`. */
            action: string;
            /** @description What it was done to. */
            target: string | null;
            /** @description More about it; ids, names and versions, never cell values. */
            detail: {
                [key: string]: unknown;
            };
            /** @description The request; `null` for background work. */
            request_id: string | null;
            /** @description SHA-256 over the entry and the hash before it, hex. */
            hash: string;
        };
        /** @description Entries of the audit log. */
        AuditLog: {
            /** @description The page, newest first. */
            entries: components["schemas"]["AuditEntry"][];
            /** @description False when an entry was altered, removed or reordered. */
            chain_valid: boolean;
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description Low-balance auto-recharge. */
        AutoTopup: {
            /** @description Whether it is on. */
            enabled: boolean;
            /**
             * Format: int64
             * @description Credits bought at a time.
             */
            amount: number;
            /** @description It buys when fewer credits than this remain. */
            threshold: number;
        };
        /**
         * @description Base role in a workspace: `admin` manages it, `editor` changes workbooks, `viewer` reads them.
         * @enum {string}
         */
        BaseRole: "admin" | "editor" | "viewer";
        /** @description Plan, credits and payment of one account. */
        Billing: {
            account_id: components["schemas"]["AccountId"];
            plan: components["schemas"]["Plan"];
            plan_status: components["schemas"]["PlanStatus"];
            /** @description Interval of the subscription; `null` without one. */
            interval: components["schemas"]["BillingInterval"] | null;
            /**
             * @description Payment provider of this installation.
             * @enum {string}
             */
            provider: "ledger" | "stripe";
            /**
             * Format: date-time
             * @description Start of the current period.
             */
            period_start: string;
            /**
             * Format: date-time
             * @description End of the current period.
             */
            period_end: string;
            credits: components["schemas"]["Credits"];
            auto_topup: components["schemas"]["AutoTopup"];
            overage: components["schemas"]["Overage"];
            /** @description The card on file; `null` if none. */
            card: components["schemas"]["Card"] | null;
            /** @description The account whose payment customer is shared; `null` if it has its own. */
            shares_card_with: components["schemas"]["AccountId"] | null;
        };
        /**
         * @description How often a plan is paid.
         * @enum {string}
         */
        BillingInterval: "monthly" | "annual";
        /** @description A table and the external sheet it maps to. */
        BindRequest: {
            /** @description Who is acting. */
            actor: string;
            /** @description Kind of external sheet. */
            external_kind: components["schemas"]["BindingKind"];
            /** @description Id or address of the external sheet. */
            external_ref: string;
            /**
             * @description Direction.
             * @default bidirectional
             */
            direction?: components["schemas"]["BindingDirection"];
            /** @description Column → side that owns it. */
            ownership_map?: {
                [key: string]: string;
            } | null;
        };
        /**
         * @description Direction of a sync-binding.
         * @enum {string}
         */
        BindingDirection: "pull" | "push" | "bidirectional";
        /**
         * @description What a sync-binding points to.
         * @enum {string}
         */
        BindingKind: "google_sheets" | "onedrive";
        /** @description An open branch point of one table. */
        Branch: {
            id: components["schemas"]["BranchId"];
            /** @description The table. */
            table: string;
            base_version: components["schemas"]["EditVersion"];
            /**
             * Format: int64
             * @description Rows exported.
             */
            row_count: number;
            /** @description Format of the export. */
            format: components["schemas"]["ExportFormat"];
            /** @description Name of the file. */
            filename: string;
            /** @description Who exported, as given. */
            actor: string | null;
            /**
             * Format: date-time
             * @description When.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When a file was last merged into it; `null` if never.
             */
            last_merged_at: string | null;
        };
        /** @description Identifier of a branch point. */
        BranchId: string;
        /** @description Branch points, newest first, one entry for each branched table. */
        BranchList: {
            /** @description The page. */
            branches: components["schemas"]["Branch"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description Acknowledgement to the payment provider. */
        CallbackReceived: {
            /** @description Always true. */
            received: boolean;
        };
        /** @description The card on file, redacted. */
        Card: {
            /** @description Brand. */
            brand: string;
            /** @description Last four digits. */
            last4: string;
            /** @description Month of expiry. */
            exp_month: number;
            /** @description Year of expiry. */
            exp_year: number;
        };
        /** @description A changed cell. */
        CellChange: {
            /** @description Column. */
            column: string;
            /** @description Value before; `null` in an inserted row. */
            old: unknown;
            /** @description Value after; `null` in a deleted row. */
            new: unknown;
        };
        /** @description A conflict, as data: nothing waits for it. Values are policy-applied. */
        CellConflict: {
            id: components["schemas"]["ConflictId"];
            /** @description The table. */
            table: string;
            row_id: components["schemas"]["RowId"];
            /** @description The column. */
            column: string;
            /** @description `overwrite`: both sides changed the cell; `stale_override`: the value below an override changed. */
            kind: components["schemas"]["ConflictKind"];
            /** @description Status. */
            status: components["schemas"]["ConflictStatus"];
            /** @description Value at the branch point, or below the override when it was made. */
            base: unknown;
            /** @description Value that was replaced, or what the transform gives below the override now. */
            prior: unknown;
            /** @description Value now, or that of the override. */
            current: unknown;
            /** @description The branch point; `null` for `stale_override`. */
            branch_id: components["schemas"]["BranchId"] | null;
            /**
             * Format: date-time
             * @description When it was opened.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was closed; `null` while open.
             */
            resolved_at: string | null;
            /** @description Who closed it; `null` while open. */
            resolved_by: string | null;
        };
        /** @description A changed cell. */
        CellDiff: {
            /** @description Address, A1. */
            cell: string;
            /** @description Value before. */
            old: string | number | boolean | null;
            /** @description Value after. */
            new: string | number | boolean | null;
        };
        /** @description Non-empty cells of a sheet. */
        CellList: {
            /** @description The sheet. */
            sheet: string;
            /** @description All sheets of the file. */
            sheets: string[];
            /** @description The cells, row by row. */
            cells: components["schemas"]["CellValue"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description A cell of the original file. */
        CellValue: {
            /** @description Address, A1. */
            cell: string;
            /** @description Value as shown. */
            value: string | number | boolean | null;
        };
        /** @description A row that changed since the caller's version. */
        ChangedRow: {
            /**
             * Format: int64
             * @description The row.
             */
            row_id: number;
            /** @description Names of its changed columns (policy-applied). Empty for an inserted or deleted row. */
            columns: string[];
        };
        /** @description A chart. */
        ChartInfo: {
            /** @description Name. */
            name: string;
            /** @description Internal id. */
            artifact_id?: string | null;
            /** @description Kind of chart, e.g. `bar`. */
            chart_type?: string | null;
            /** @description Table it was made from. */
            source_table?: string | null;
            /** @description Title. */
            title?: string | null;
            /** @description Vega-Lite config; `null` or absent on a governed workbook. */
            config?: {
                [key: string]: unknown;
            } | null;
            /** @description Tool and parameters that made it; `null` on a governed workbook. */
            recipe?: {
                [key: string]: unknown;
            } | null;
            /** @description `governed` when the config was left out. */
            config_omitted?: components["schemas"]["ConfigOmitted"] | null;
        };
        /** @description Charts, by name. */
        ChartListResponse: {
            /** @description The page. */
            charts: components["schemas"]["ChartInfo"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description A page of the payment provider to send the person to. */
        CheckoutSession: {
            /**
             * Format: uri
             * @description Address of the page.
             */
            checkout_url: string;
            /** @description Id of the session at the provider. */
            session_id: string;
        };
        /** @description A tag on a column. */
        Classification: {
            /** @description The table. */
            table: string;
            /** @description The column. */
            column: string;
            /** @description The tag. */
            tag: string;
            /**
             * @description `direct`: attached by hand; `inherited`: flowed from another column.
             * @enum {string}
             */
            origin: "direct" | "inherited";
            /** @description The column it flowed from; `null` if direct. */
            inherited_from: components["schemas"]["ColumnRef"] | null;
            /** @description Who attached it, as given. */
            actor: string | null;
            /**
             * Format: date-time
             * @description When.
             */
            created_at: string;
        };
        /** @description Tags of all columns, by table, column and tag. */
        ClassificationList: {
            /** @description The page. */
            classifications: components["schemas"]["Classification"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description An entry of a drive folder. */
        CloudFile: {
            /** @description Id on the drive. */
            id: string;
            /** @description Name. */
            name: string;
            /** @description Whether it is a folder. */
            isFolder: boolean;
            /** @description Media type; `null` for folders. */
            mime_type: string | null;
            /**
             * Format: int64
             * @description Bytes; `null` where the drive does not say.
             */
            size: number | null;
            /**
             * Format: date-time
             * @description When it was changed.
             */
            modified_at: string | null;
            /** @description Who changed it. */
            modified_by: string | null;
        };
        /** @description Folders first, then importable files, by name. */
        CloudFileList: {
            /** @description The page. */
            files: components["schemas"]["CloudFile"][];
            /** @description Drive provider. */
            provider: components["schemas"]["DriveProvider"];
            /** @description The folder. */
            folder_id: string;
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description A drive file to import. */
        CloudImportRequest: {
            /** @description Drive provider. */
            provider: components["schemas"]["DriveProvider"];
            /** @description Drive item id or file id. */
            file_id: string;
            /** @description Name to register the source under; keep the extension. */
            filename: string;
        };
        /** @description What would be seen of a column. */
        ColumnAccess: {
            /** @description The column. */
            column: string;
            /**
             * @description `visible` when no rule applies or `allow` decided.
             * @enum {string}
             */
            effect: "visible" | "mask" | "deny";
            /** @description Its tags. */
            tags: string[];
            /** @description The rule that decided; `null` when none applies. */
            rule: components["schemas"]["DecidingRule"] | null;
        };
        /** @description Outcome of a change of columns. */
        ColumnChange: {
            /** @description Name of the table. */
            name: string;
            /** @description Name of the column after the change. */
            column: string;
            /** @description Type of the column; `null` when dropped. */
            type: string | null;
            /**
             * Format: int64
             * @description New version.
             */
            edit_version: number;
            /**
             * Format: int64
             * @description The op.
             */
            op_id: number;
            /** @description Derived tables that went stale. */
            stale: string[];
            /** @description Transforms that no longer bind. */
            broken: string[];
        };
        /** @description A column. */
        ColumnDef: {
            /** @description Name. */
            name: string;
            /** @description Type: `VARCHAR`, `BIGINT`, `DOUBLE`, `DECIMAL(p,s)`, `BOOLEAN`, `DATE`, `TIMESTAMP`, `TIME` or `JSON`. */
            type: string;
        };
        /** @description Description of a column. */
        ColumnDescription: {
            /** @description Name of the artifact. */
            name: string;
            /** @description Name of the column. */
            column: string;
            /** @description What it holds. */
            description: string | null;
        };
        /** @description A description. */
        ColumnDescriptionBody: {
            /** @description What it holds; `null` clears it. */
            description?: string | null;
        };
        /** @description A column as the caller sees it. */
        ColumnInfo: {
            /** @description Name, same as `name`. */
            column?: string | null;
            /** @description Name. */
            name?: string | null;
            /** @description Type. */
            type?: string | null;
            /** @description Whether its values read as NULL for the caller. */
            masked?: boolean | null;
            /** @description What it holds. */
            description?: string | null;
        };
        /** @description Profile of a column. A masked column has its name and type only; the figures are `null` or empty. */
        ColumnProfile: {
            /** @description Name. */
            name: string;
            /** @description Type. */
            type: string;
            /** @description Whether it is masked for the caller. */
            masked: boolean;
            /** @description NULLs. */
            null_count: number | null;
            /** @description NULLs as a share of the rows. */
            null_share: number | null;
            /** @description Distinct values. */
            distinct: number | null;
            /** @description Least value. */
            min: unknown;
            /** @description Greatest value. */
            max: unknown;
            /** @description Mean, for numbers. */
            mean: number | null;
            /** @description Most frequent values, at most ten. */
            top_values: components["schemas"]["TopValue"][];
            /** @description Histogram, for numbers and times, at most twenty bins. */
            histogram: components["schemas"]["HistogramBin"][];
        };
        /** @description A column. */
        ColumnRef: {
            /** @description The table. */
            table: string;
            /** @description The column. */
            column: string;
        };
        /** @description A column to make. */
        ColumnSpec: {
            /** @description Name. */
            name: string;
            /**
             * @description Type; common synonyms (`INTEGER`, `TEXT`, `NUMERIC` …) are accepted.
             * @default VARCHAR
             */
            type?: string;
        };
        /** @description Tags of a column. */
        ColumnTags: {
            /** @description The table. */
            name: string;
            /** @description The column. */
            column: string;
            /** @description All its tags, inherited ones included. */
            tags: string[];
            /** @description Other columns the tag flowed to. */
            reached: components["schemas"]["ColumnRef"][];
        };
        /** @description Columns of a table. */
        ColumnsResponse: {
            /** @description Name of the table. */
            name: string;
            /**
             * Format: int64
             * @description Current version.
             */
            edit_version: number;
            /** @description Columns in order, policy-applied. */
            columns: components["schemas"]["ColumnInfo"][];
            /** @description Name to use in SQL. */
            table_name?: string | null;
        };
        /** @description What the commit is about. */
        CommitSnapshotRequest: {
            /** @description What it is about. */
            summary: string;
            /**
             * @description Why it is committed.
             * @default transform
             */
            event_type?: string;
        };
        /**
         * @description `governed`: it shows columns that the caller may not see.
         * @enum {string}
         */
        ConfigOmitted: "governed";
        /** @description Fields to change; those left out stay as they are. */
        ConfigureWorkspaceRequest: {
            /** @description New name; `null` leaves it. */
            name?: string | null;
            /** @description Declared data residency; `null` clears it. */
            residency?: string | null;
            /** @description Language of the names that structuring makes up; `null` leaves it. It holds for files that are ingested from then on. */
            naming?: components["schemas"]["NamingChoice"] | null;
            /** @description Rules passed to a configured language model; `null` clears them. */
            preprocess_rules?: string | null;
            /** @description Declared identity-provider linkage; stored as it is, `null` clears it. */
            idp_config?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description A cell was changed on both sides. */
        ConflictCreatedData: {
            conflict_id: components["schemas"]["ConflictId"];
            kind: components["schemas"]["ConflictKind"];
            /** @description Id of the table. */
            artifact_id: string;
            /** @description Its name. */
            name: string;
        };
        /** @description A cell was changed on both sides. */
        ConflictCreatedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Kind of event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "conflict.created";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workbook. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description Its workspace. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Who, as given. */
            actor: string | null;
            data: components["schemas"]["ConflictCreatedData"];
        };
        /** @description Identifier of a conflict. */
        ConflictId: string;
        /**
         * @description `overwrite`: both sides changed the cell; `stale_override`: what lies below an override changed.
         * @enum {string}
         */
        ConflictKind: "overwrite" | "stale_override";
        /** @description Conflicts, newest first. */
        ConflictList: {
            /** @description The page. */
            conflicts: components["schemas"]["CellConflict"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /**
         * @description State of a conflict.
         * @enum {string}
         */
        ConflictStatus: "open" | "acknowledged" | "reverted" | "override_dropped";
        /** @description What was looked at. */
        Coverage: {
            /** @description Tables looked at. */
            tables: string[];
            /** @description Rules applied. */
            rules: string[];
            /** @description Rows looked at. */
            rows_checked: number;
            /** @description Tables left out. */
            skipped: string[];
            /** @description The same in a sentence. */
            statement: string;
        };
        /** @description Who is logged in to the console. */
        ConsoleSession: {
            user: components["schemas"]["User"];
            /**
             * Format: date-time
             * @description When the session ends (12 hours).
             */
            expires_at: string;
        };
        /** @description A developer account to make. */
        CreateAccountRequest: {
            /** @description Name; it has to be typed again to delete the account. */
            name: string;
        };
        /** @description What to mint. */
        CreateKeyRequest: {
            /** @description What it may do. */
            scopes: components["schemas"]["Scope"][];
            /** @description The account; default the credential's own, for a session the default account. */
            account_id?: string | null;
            /** @description Name to recognize it by. */
            name?: string | null;
            /**
             * @description Requests a minute.
             * @default 600
             */
            rate_limit_per_minute?: number;
            /** @description Pins the key to this workspace: its workbooks on the data plane, that workspace alone on the control plane. */
            workspace_id?: string | null;
        };
        /** @description A base table to make. */
        CreateTableRequest: {
            /** @description Name. */
            name: string;
            /** @description Columns, in order. */
            columns: components["schemas"]["ColumnSpec"][];
        };
        /** @description What was made. */
        CreateTableResult: {
            table: components["schemas"]["CreatedTable"];
        };
        /** @description What to mint. */
        CreateTokenRequest: {
            /** @description Name to recognize it by. */
            name: string;
            /**
             * @description Account to bind it to; default the credential's own, for a session the default account. Another one must be a
             *     developer account of the user.
             */
            account_id?: string | null;
            /** @description Lifetime in days; 90 when left out or `null`. */
            expires_in_days?: number | null;
            /** @description Requests a minute; 600 when left out or `null`. */
            rate_limit_per_minute?: number | null;
            /** @description Reach: `account` (default), `workspace:<workspace_id>` or `workbook:<workbook_id>`. */
            resource?: string | null;
            /** @description What it may do; `workbooks:read` when left out or `null`. `cloud-files:read` must be named to be had. */
            scopes?: components["schemas"]["Scope"][] | null;
        };
        /** @description A slot to open. */
        CreateUploadRequest: {
            /** @description Name to register the source under; keep the extension. */
            filename: string;
            /** @description Media type of the bytes; informative. */
            content_type?: string | null;
            /**
             * @description As for an upload.
             * @default auto
             */
            mode?: components["schemas"]["IngestMode"];
            /**
             * @description As for an upload.
             * @default auto
             */
            structuring?: components["schemas"]["StructuringChoice"] | null;
        };
        /** @description A label for the current state. */
        CreateVersionRequest: {
            /** @description Label, unique in its workbook. */
            label: string;
            /** @description What it is about. */
            summary?: string | null;
        };
        /** @description A subscription. */
        CreateWebhookRequest: {
            /**
             * Format: uri
             * @description Where to send events: http or https, a public address.
             */
            url: string;
            /** @description Kinds to subscribe to; empty or absent: all kinds. */
            events?: components["schemas"]["EventKind"][];
        };
        /** @description A workbook to make. */
        CreateWorkbookRequest: {
            /** @description Title. */
            title: string;
            /**
             * @description Workspace to make it in: an id, or the alias `personal`. Default: the workspace the credential is pinned to, else
             *     the oldest of its account.
             */
            workspace_id?: string | null;
            visibility?: components["schemas"]["Visibility"];
        };
        /** @description A new key. `key` is shown this once and never again. */
        CreatedKey: {
            /** @description The plaintext. */
            key: string;
            id: components["schemas"]["KeyId"];
            /** @description Name given at creation. */
            name: string | null;
            account_id: components["schemas"]["AccountId"];
            /** @description The workspace it is pinned to; `null` for the whole account. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            resource: components["schemas"]["ResourceReach"];
            /** @description What it may do. */
            scopes: components["schemas"]["Scope"][];
            /** @description Requests a minute it may make. */
            rate_limit_per_minute: number;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last used, to within a minute; `null` if never.
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked; `null` while it is valid.
             */
            revoked_at: string | null;
            /** @description First characters of the plaintext, to recognize it by. */
            prefix: string;
        };
        /** @description The new table. */
        CreatedTable: {
            /** @description Name. */
            name: string;
            /** @description `table`. */
            type: string;
            /**
             * Format: int64
             * @description Its first version.
             */
            edit_version: number;
            /** @description `base`. */
            layer?: string | null;
            /** @description Name to use in SQL. */
            table_name?: string | null;
        };
        /** @description A new token. `token` is shown this once and never again. */
        CreatedToken: {
            /** @description The plaintext. */
            token: string;
            id: components["schemas"]["TokenId"];
            /** @description Name given at creation. */
            name: string;
            account_id: components["schemas"]["AccountId"];
            /** @description What it may do. */
            scopes: components["schemas"]["Scope"][];
            resource: components["schemas"]["ResourceReach"];
            /** @description Requests a minute it may make. */
            rate_limit_per_minute: number;
            /**
             * Format: date-time
             * @description When it ends.
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last used, to within a minute; `null` if never.
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked; `null` while it is valid.
             */
            revoked_at: string | null;
            /** @description First characters of the plaintext, to recognize it by. */
            prefix: string;
        };
        /** @description A webhook with its signing secret, shown this once. */
        CreatedWebhook: {
            /** @description The signing secret. */
            secret: string;
            id: components["schemas"]["WebhookId"];
            /** @description Where events are sent. */
            url: string;
            /** @description Kinds subscribed to; all kinds when none was named. */
            events: components["schemas"]["EventKind"][];
            /** @description `disabled` after the receiver answered 410. */
            status: components["schemas"]["WebhookStatus"];
            resource: components["schemas"]["ResourceReach"];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Until when the previous secret signs too, after a rotation; otherwise `null`.
             */
            previous_secret_expires_at: string | null;
        };
        /** @description The calling credential. */
        Credential: {
            /** @description Kind of credential. */
            kind: components["schemas"]["CredentialKind"];
            /** @description Id of the token or key; the `jti` of a session. */
            id: string;
            /** @description Name of the token or key. */
            name?: string | null;
            /**
             * Format: date-time
             * @description When it ends; `null` for keys.
             */
            expires_at: string | null;
            /** @description Requests a minute it may make. */
            rate_limit_per_minute: number;
        };
        /**
         * @description Kind of credential.
         * @enum {string}
         */
        CredentialKind: "session" | "access_token" | "account_key";
        /** @description Credit buckets of an account. */
        Credits: {
            /** @description Credits that come with the plan in the current period. */
            included: number;
            /**
             * Format: int64
             * @description Prepaid credits bought and not expired, less what earlier periods used of them.
             */
            purchased: number;
            /**
             * Format: int64
             * @description Credits used in the current period.
             */
            used: number;
            /**
             * Format: int64
             * @description What can still be spent; negative in overage. An installation without a limit on credits refuses nothing when it is 0.
             */
            remaining: number;
        };
        /** @description Requests of one UTC day. */
        DailyCount: {
            /**
             * Format: date
             * @description UTC day.
             */
            date: string;
            /** @description Requests on that day. */
            requests: number;
        };
        /** @description The rule that decided. */
        DecidingRule: {
            /** @description The tag. */
            tag: string;
            /** @description The role. */
            role: string;
            effect: components["schemas"]["Effect"];
        };
        /** @description An account's deletion. */
        DeleteAccountJob: {
            job_id: components["schemas"]["JobId"];
            /**
             * @description What it does. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "delete_account";
            /** @description `pending` → `running` → `succeeded` or `failed`; a cancelled job is `failed`. */
            status: components["schemas"]["JobStatus"];
            /** @description The workbook it works on; `null` for account jobs. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description How far it is; `null` before it begins. */
            progress: components["schemas"]["JobProgress"] | null;
            /** @description On failure: a short message. */
            error?: string;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ended; `null` until then.
             */
            finished_at: string | null;
            /** @description On success: empty. */
            result?: Record<string, unknown>;
        };
        /** @description Which account to delete, and the proof that it is meant. */
        DeleteAccountRequest: {
            /** @description The account. */
            account_id: string;
            /** @description Must equal the account's name exactly. */
            confirm: string;
        };
        /** @description Targets whose annotations go. */
        DeleteAnnotationsRequest: {
            /** @description The targets. */
            targets: components["schemas"]["AnnotationTarget"][];
        };
        /** @description Outcome. */
        DeleteAnnotationsResult: {
            /**
             * Format: int64
             * @description Annotations removed.
             */
            deleted: number;
        };
        /** @description Rows to delete, all or nothing. */
        DeleteRowsRequest: {
            expected_version: components["schemas"]["ExpectedVersion"];
            /** @description The rows. */
            row_ids: components["schemas"]["RowId"][];
            actor?: components["schemas"]["Actor"];
            /**
             * @description On a version mismatch, delete when none of the rows changed.
             * @default false
             */
            rebase?: boolean;
        };
        /** @description Outcome of a delete. */
        DeleteRowsResult: {
            /**
             * Format: int64
             * @description New version.
             */
            edit_version: number;
            /**
             * Format: int64
             * @description The op.
             */
            op_id: number;
            /**
             * Format: int64
             * @description Rows deleted.
             */
            deleted: number;
            /** @description Derived tables that went stale. */
            stale: string[];
        };
        /** @description A delivery of one event. */
        Delivery: {
            id: components["schemas"]["DeliveryId"];
            /** @description Id of the event. */
            event_id: string;
            /** @description Kind of event; `webhook.test` for a test. */
            type: components["schemas"]["EventType"];
            /** @description The workbook; `null` where there is none. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /**
             * @description `failed` once all tries are used up.
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /** @description Tries so far. */
            attempts: number;
            /** @description HTTP status of the last answer; `null` if there was none. */
            last_status: number | null;
            /** @description Why the last try failed; `null` if it did not. */
            last_error: string | null;
            /**
             * Format: date-time
             * @description When the next try is due; `null` if none is.
             */
            next_attempt_at: string | null;
            /**
             * Format: date-time
             * @description When the event happened.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was delivered; `null` until then.
             */
            delivered_at: string | null;
        };
        /** @description Identifier of a webhook delivery. */
        DeliveryId: string;
        /** @description Deliveries, newest first. */
        DeliveryList: {
            /** @description The page. */
            deliveries: components["schemas"]["Delivery"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description Which subscription to start. */
        DevCheckoutRequest: {
            /**
             * @description Plan.
             * @enum {string}
             */
            plan: "solo" | "pro";
            /** @description Billing interval. */
            interval: components["schemas"]["BillingInterval"];
            /** @description The account; default as for `GET /api/control/account`. */
            account_id?: string | null;
            /**
             * Format: uri
             * @description Where the page leads after payment.
             */
            success_url?: string | null;
            /**
             * Format: uri
             * @description Where the page leads when the person turns back.
             */
            cancel_url?: string | null;
        };
        /** @description A billing portal for an account. */
        DevPortalRequest: {
            /** @description The account; default as for `GET /api/control/account`. */
            account_id?: string | null;
            /**
             * Format: uri
             * @description Where the portal leads back to.
             */
            return_url?: string | null;
        };
        /** @description Which credit pack to buy. */
        DevTopupRequest: {
            /** @description The account; default as for `GET /api/control/account`. */
            account_id?: string | null;
            /**
             * @description The pack: sizes and prices are in the price list of the installation.
             * @enum {string}
             */
            pack: "small" | "medium" | "large";
        };
        /** @description A sheet that people should look at. */
        DoubtfulSheet: {
            /** @description Sheet. */
            sheet: string;
            /** @description What is doubtful. */
            reason: string;
        };
        /** @description Whether the service may read the user's drive. */
        DriveAuthorization: {
            /** @description Drive provider. */
            provider: components["schemas"]["DriveProvider"];
            /** @description Whether it may. */
            authorized: boolean;
            /**
             * Format: uri
             * @description If not: the one page to send the user to; otherwise `null`.
             */
            authorize_url: string | null;
            /** @description The drive account; `null` if not authorized. */
            account_email: string | null;
        };
        /**
         * @description A cloud drive.
         * @enum {string}
         */
        DriveProvider: "google_drive" | "onedrive";
        /** @description Version of a table, its etag. Every change of rows or columns makes a higher one. */
        EditVersion: number;
        /**
         * @description `mask`: values read as typed NULL; `deny`: the column disappears; `allow`: exempts a role from the `*` rule.
         * @enum {string}
         */
        Effect: "mask" | "deny" | "allow";
        /**
         * @description Kind of artifact.
         * @enum {string}
         */
        EventArtifactKind: "table" | "sheet" | "chart" | "report";
        /**
         * @description A kind of event that a webhook can subscribe to.
         * @enum {string}
         */
        EventKind: "artifact.updated" | "artifact.deleted" | "artifact.stale" | "snapshot.committed" | "source.analyzed" | "source.materialized" | "conflict.created" | "version.branched" | "version.merged" | "job.completed";
        /** @description Events, oldest first. */
        EventList: {
            /** @description The page. */
            events: components["schemas"]["ServiceEvent"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /**
         * @description Kind of event.
         * @enum {string}
         */
        EventType: "artifact.updated" | "artifact.deleted" | "artifact.stale" | "snapshot.committed" | "source.analyzed" | "source.materialized" | "conflict.created" | "version.branched" | "version.merged" | "job.completed" | "webhook.test";
        /** @description Where a finding shows. */
        Evidence: {
            row_id?: components["schemas"]["RowId"];
            /** @description The column. */
            column?: string;
            /** @description Cell of the original sheet, A1. */
            cell?: string;
            /** @description The value. */
            value: unknown;
        };
        /**
         * Format: int64
         * @description The `edit_version` the caller last saw. Any other current version answers 409 `version-conflict`. An explicit `null`
         *     means "do not check"; leaving it out is 422.
         */
        ExpectedVersion: number | null;
        /** @description What the identity provider gave to the browser. */
        OidcCode: {
            /** @description The code. */
            code: string;
            /** @description The state that the log-in began with. */
            state: string;
        };
        /** @description A log-in at the identity provider that was begun. */
        OidcLogIn: {
            /**
             * Format: uri
             * @description Where to send the person.
             */
            authorize_url: string;
        };
        /**
         * @description `away`: only `workers` can be; without the others the answer is 503.
         * @enum {string}
         */
        PartState: "ok" | "away";
        /**
         * @description Format of rows: `json` (`application/json`), `ndjson` (`application/x-ndjson`), `arrow`
         *     (`application/vnd.apache.arrow.stream`), `csv` (`text/csv`), `parquet` (`application/vnd.apache.parquet`).
         * @enum {string}
         */
        RowFormat: "json" | "ndjson" | "arrow" | "csv" | "parquet";
        /**
         * @description Format of an export.
         * @enum {string}
         */
        ExportFormat: "xlsx" | "csv" | "parquet" | "ndjson";
        /** @description What to export, and how. */
        ExportRequest: {
            /** @description Tables, by name. */
            tables: string[];
            /** @description `xlsx`: one sheet for each table; others: one file, or a zip for several tables. */
            format: components["schemas"]["ExportFormat"];
            /**
             * @description `values`: values only; `preserve` (xlsx): formulas kept by the ingest are written back.
             * @default values
             * @enum {string}
             */
            formula_mode?: "values" | "preserve";
            /**
             * @description Write `__svc_row_id`, which a merge needs.
             * @default false
             */
            include_row_ids?: boolean;
            /**
             * @description Freeze the exported rows as a merge base; implies `include_row_ids`. For xlsx and csv.
             * @default false
             */
            record_branch?: boolean;
            /** @description Name of the file; default from the workbook or table. */
            filename?: string | null;
            /**
             * @description Begin csv with a byte order mark.
             * @default true
             */
            csv_bom?: boolean;
            actor?: components["schemas"]["Actor"];
        };
        /** @description A table whose transform failed; it stays stale. */
        FailedTable: {
            /** @description Name. */
            name: string;
            /** @description A short message. */
            error: string;
        };
        /** @description Differences between two versions of a tracked file. */
        FileDiff: {
            /** @description Version on the right. */
            n: number;
            /** @description Version on the left; `null` where there is none, as for the first version. */
            against: number | null;
            /** @description Sheets with changes. */
            sheets: components["schemas"]["SheetDiff"][];
        };
        /** @description Multipart form with one file. */
        FileForm: {
            /**
             * Format: binary
             * @description The file.
             */
            file: string;
            actor?: components["schemas"]["Actor"];
        };
        /** @description A tracked file whose versions feed a source. */
        FileLink: {
            id: components["schemas"]["FileLinkId"];
            /** @description Name. */
            name: string;
            /**
             * @description Where the file lives.
             * @enum {string}
             */
            kind: "cloud" | "local";
            /** @description Drive provider; `null` for local files. */
            provider: components["schemas"]["DriveProvider"] | null;
            /** @description Where a local file lives, as given; `null` for cloud files. */
            origin: string | null;
            /** @description How often the service looks for changes; `null` if it does not. */
            every: components["schemas"]["FollowInterval"] | null;
            /** @description Name of the source it feeds. */
            source: string;
            /** @description Versions, newest last. */
            versions: components["schemas"]["FileLinkVersion"][];
            /**
             * Format: date-time
             * @description When tracking began.
             */
            created_at: string;
        };
        /** @description Identifier of a file link. */
        FileLinkId: string;
        /** @description A change of a file link. */
        FileLinkJob: {
            job_id: components["schemas"]["JobId"];
            /**
             * @description What it does. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "file_link";
            /** @description `pending` → `running` → `succeeded` or `failed`; a cancelled job is `failed`. */
            status: components["schemas"]["JobStatus"];
            /** @description The workbook it works on; `null` for account jobs. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description How far it is; `null` before it begins. */
            progress: components["schemas"]["JobProgress"] | null;
            /** @description On failure: a short message. */
            error?: string;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ended; `null` until then.
             */
            finished_at: string | null;
            /** @description On success: the same body as the synchronous form. */
            result?: components["schemas"]["FileLinkResult"];
        };
        /** @description Tracked files, oldest first. */
        FileLinkList: {
            /** @description The page. */
            file_links: components["schemas"]["FileLink"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description A tracked file and what a new state did. */
        FileLinkResult: {
            file_link: components["schemas"]["FileLink"];
            /** @description False when the bytes are identical; no version is cut then. */
            changed: boolean;
            /** @description The current version. */
            n: number;
            /** @description Names of the artifacts with new content. */
            artifacts: string[];
            /** @description Conflicts opened: cells that were edited here and changed in the file. */
            conflicts: components["schemas"]["ConflictId"][];
        };
        /** @description A version of a tracked file. */
        FileLinkVersion: {
            /** @description Number, from 1. */
            n: number;
            /**
             * @description `link`: the first; `sync`: pulled or pushed; `revert`: an earlier one again.
             * @enum {string}
             */
            kind: "link" | "sync" | "revert";
            /** @description Who changed the file, as the drive or the pusher says. */
            modified_by: string | null;
            /**
             * Format: date-time
             * @description When the file was changed.
             */
            modified: string | null;
            /**
             * Format: date-time
             * @description When it came in.
             */
            synced_at: string;
            /** @description Snapshot of the workbook after its ingest. */
            snapshot_id: components["schemas"]["SnapshotId"] | null;
        };
        /** @description A finding. */
        Finding: {
            /** @description Id within the review. */
            id: string;
            /** @description The rule, e.g. `total-mismatch`. */
            rule: string;
            /**
             * @description How bad.
             * @enum {string}
             */
            severity: "info" | "warning" | "error";
            /** @description The table. */
            table: string;
            /** @description What was found. */
            message: string;
            /** @description Where it shows. */
            evidence: components["schemas"]["Evidence"][];
            /** @description What could be done; `null` if nothing is known. */
            suggested_fix: string | null;
        };
        /**
         * @description How often a drive file is looked at.
         * @enum {string}
         */
        FollowInterval: "hourly" | "daily" | "weekly";
        /** @description Whether a derived table agrees with its inputs. */
        Freshness: {
            /** @description Whether an input changed since the last run. */
            stale: boolean;
            /**
             * Format: date-time
             * @description Since when; `null` while fresh.
             */
            stale_since: string | null;
            /** @description The inputs that moved on since the last run; left out while fresh. */
            inputs?: string[];
        };
        /** @description A heading. */
        HeadingBlock: {
            /**
             * @description Kind of block. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "heading";
            /** @description Text. */
            text: string;
            /**
             * @description Level.
             * @default 1
             */
            level?: number;
        };
        /** @description The process answers. */
        Health: {
            /**
             * @description Always `ok`.
             * @enum {string}
             */
            status: "ok";
            /** @description Version of the service. */
            version: string;
        };
        /** @description What the service is and where to go on. */
        Home: {
            /** @description Name of the service. */
            name: string;
            /** @description Version of the service and of its contract. */
            version: string;
            status: components["schemas"]["ServiceStatus"];
            /** @description Parts that do not answer. */
            away: string[];
            log_in: components["schemas"]["HomeLogIn"];
            links: components["schemas"]["HomeLinks"];
        };
        /** @description How people get in, beside with an e-mail and a password. */
        HomeLogIn: {
            /** @description Whether anybody can make a user. */
            sign_up: boolean;
            /** @description Whether people can log in at the configured identity provider. */
            oidc: boolean;
        };
        /** @description Addresses to go on from. */
        HomeLinks: {
            /** @description The rendered reference. */
            reference: string;
            /** @description The contract as JSON. */
            contract: string;
            /** @description The documents. */
            guide: string;
            /** @description Temporal's page for operators, where one is known. */
            temporal: string | null;
        };
        /** @description A bin of a histogram. */
        HistogramBin: {
            /** @description Lower bound, included. */
            from: unknown;
            /** @description Upper bound, excluded but for the last bin. */
            to: unknown;
            /** @description Values in it. */
            count: number;
        };
        /** @description An ingest: upload, revision, cloud or url. */
        IngestJob: {
            job_id: components["schemas"]["JobId"];
            /**
             * @description What it does. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "ingest";
            /** @description `pending` → `running` → `succeeded` or `failed`; a cancelled job is `failed`. */
            status: components["schemas"]["JobStatus"];
            /** @description The workbook it works on; `null` for account jobs. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description How far it is; `null` before it begins. */
            progress: components["schemas"]["JobProgress"] | null;
            /** @description On failure: a short message. */
            error?: string;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ended; `null` until then.
             */
            finished_at: string | null;
            /** @description On success: the same body as the synchronous form. */
            result?: components["schemas"]["SourceUploadResponse"];
        };
        /**
         * @description `auto`: fully automatic; `staged`: bytes only, then analyze, correct and materialize.
         * @enum {string}
         */
        IngestMode: "auto" | "staged";
        /** @description A row of an input table. */
        InputRow: {
            /** @description Table. */
            table: string;
            /**
             * Format: int64
             * @description Row.
             */
            row_id: number;
            /**
             * Format: int64
             * @description Version it was read at.
             */
            edit_version: number;
        };
        /** @description Handle of an asynchronous operation, by kind. */
        Job: components["schemas"]["IngestJob"] | components["schemas"]["AnalyzeJob"] | components["schemas"]["MaterializeJob"] | components["schemas"]["RecomputeJob"] | components["schemas"]["TransformJob"] | components["schemas"]["ReviewJob"] | components["schemas"]["RestoreJob"] | components["schemas"]["FileLinkJob"] | components["schemas"]["DeleteAccountJob"];
        /** @description The work goes on as a job. */
        JobAccepted: {
            job_id: components["schemas"]["JobId"];
        };
        /** @description A job ended. */
        JobCompletedData: {
            job_id: components["schemas"]["JobId"];
            kind: components["schemas"]["JobKind"];
            status: components["schemas"]["JobStatus"];
        };
        /** @description A job ended. */
        JobCompletedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Kind of event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "job.completed";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workbook. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description Its workspace. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Who, as given. */
            actor: string | null;
            data: components["schemas"]["JobCompletedData"];
        };
        /** @description Identifier of a job. */
        JobId: string;
        /**
         * @description What a job does.
         * @enum {string}
         */
        JobKind: "ingest" | "analyze" | "materialize" | "recompute" | "transform" | "review" | "restore" | "file_link" | "delete_account";
        /** @description Jobs, newest first. */
        JobList: {
            /** @description The page. */
            jobs: components["schemas"]["Job"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /**
         * @description How far a job is, in units of its stage: bytes while a file is read (of a workbook, those of its unpacked sheets), rows
         *     while tables are written, tables while they are put in place. At the end `done` is `total`.
         */
        JobProgress: {
            /** @description What it is doing. */
            stage: string;
            /**
             * Format: int64
             * @description Units done.
             */
            done: number;
            /**
             * Format: int64
             * @description Units in all; `null` while unknown.
             */
            total: number | null;
        };
        /**
         * @description `pending` → `running` → `succeeded` or `failed`; a cancelled job is `failed`.
         * @enum {string}
         */
        JobStatus: "pending" | "running" | "succeeded" | "failed";
        /** @description A JSON-RPC error. */
        JsonRpcError: {
            /** @description Code. */
            code: number;
            /** @description Message. */
            message: string;
            /** @description More about it. */
            data?: unknown;
        };
        /** @description A JSON-RPC 2.0 request, notification or response. */
        JsonRpcMessage: {
            /**
             * @description Always `2.0`.
             * @enum {string}
             */
            jsonrpc: "2.0";
            /** @description Id of a request and of its response; absent in a notification. */
            id?: string | number | null;
            /** @description Method, in a request or notification. */
            method?: string;
            /** @description Parameters. */
            params?: {
                [key: string]: unknown;
            };
            /** @description Result, in a response. */
            result?: {
                [key: string]: unknown;
            };
            error?: components["schemas"]["JsonRpcError"];
        };
        /** @description An account API key, redacted. */
        Key: {
            id: components["schemas"]["KeyId"];
            /** @description Name given at creation. */
            name: string | null;
            account_id: components["schemas"]["AccountId"];
            /** @description The workspace it is pinned to; `null` for the whole account. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            resource: components["schemas"]["ResourceReach"];
            /** @description What it may do. */
            scopes: components["schemas"]["Scope"][];
            /** @description Requests a minute it may make. */
            rate_limit_per_minute: number;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last used, to within a minute; `null` if never.
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked; `null` while it is valid.
             */
            revoked_at: string | null;
            /** @description First characters of the plaintext, to recognize it by. */
            prefix: string;
        };
        /** @description Identifier of an account API key. */
        KeyId: string;
        /** @description Keys, newest first. */
        KeyList: {
            /** @description The page. */
            keys: components["schemas"]["Key"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /**
         * @description `base`: rows are the source of truth; `derived`: output of a transform; `view`: computed when it is read.
         * @enum {string}
         */
        Layer: "base" | "derived" | "view";
        /** @description A sheet that was read as one of the same layout was corrected before. */
        LearnedSheet: {
            /** @description Sheet. */
            sheet: string;
            /**
             * Format: date-time
             * @description When the layout was corrected.
             */
            corrected_at: string;
        };
        /** @description A column that was read, and what it matters for. */
        LineageColumn: {
            /** @description Column of the table that was read. */
            column: string;
            /** @description Columns of the result that depend on it. */
            to: string[];
            /** @description Whether it decides which rows the result has, or their order; then every column of the result depends on it and `to` is empty. */
            decides_rows: boolean;
        };
        /** @description An edge, from what was read to what was made. */
        LineageEdge: {
            /** @description Node id. */
            from: string;
            /** @description Node id. */
            to: string;
            /** @description The columns of `from` that matter. Left out where that is not known, or not a question of columns: then all do. */
            columns?: components["schemas"]["LineageColumn"][];
        };
        /**
         * @description Form of a graph.
         * @enum {string}
         */
        LineageFormat: "json" | "svg";
        /** @description A node of the graph. */
        LineageNode: {
            /** @description Id within this answer. */
            id: string;
            /**
             * @description What it is.
             * @enum {string}
             */
            kind: "source" | "region" | "table" | "view" | "transform" | "sheet" | "chart" | "report";
            /** @description Name; for a region its range. */
            name: string;
            /** @description State, for artifacts. */
            state?: components["schemas"]["ArtifactState"];
            /**
             * Format: int64
             * @description Version, for tables.
             */
            edit_version?: number;
            /** @description Sheet, for regions. */
            sheet?: string | null;
            /** @description A1 range, for regions. */
            range?: string | null;
            /** @description Whether it is stale, for derived tables and reports. */
            stale?: boolean;
        };
        /**
         * @description Which states to list.
         * @enum {string}
         */
        ListedState: "active" | "archived" | "all";
        /** @description Log-in. */
        LogInRequest: {
            /**
             * Format: email
             * @description E-mail address.
             */
            email: string;
            /**
             * Format: password
             * @description Password.
             */
            password: string;
        };
        /**
         * @description Whether the output is stored or computed when it is read.
         * @enum {string}
         */
        Materialization: "table" | "view";
        /** @description A materialization of a source. */
        MaterializeJob: {
            job_id: components["schemas"]["JobId"];
            /**
             * @description What it does. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "materialize";
            /** @description `pending` → `running` → `succeeded` or `failed`; a cancelled job is `failed`. */
            status: components["schemas"]["JobStatus"];
            /** @description The workbook it works on; `null` for account jobs. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description How far it is; `null` before it begins. */
            progress: components["schemas"]["JobProgress"] | null;
            /** @description On failure: a short message. */
            error?: string;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ended; `null` until then.
             */
            finished_at: string | null;
            /** @description On success: the same body as the synchronous form. */
            result?: components["schemas"]["MaterializeResponse"];
        };
        /** @description What to materialize, and where. */
        MaterializeRequest: {
            /** @description Ids of regions; default the selected ones. */
            regions?: string[] | null;
            target?: components["schemas"]["MaterializeTarget"];
            /** @description With `append`: column of the region → column of the table, by name. */
            column_mapping?: {
                [key: string]: string;
            } | null;
        };
        /** @description What was made. */
        MaterializeResponse: {
            source: components["schemas"]["Source"];
            /** @description Every artifact produced or appended to. */
            artifacts: components["schemas"]["ArtifactSummary"][];
            /**
             * Format: int64
             * @description With `append`: the table's new version; otherwise `null`.
             */
            edit_version: number | null;
            /**
             * Format: int64
             * @description With `append`: the op; otherwise `null`.
             */
            op_id: number | null;
            /** @description Derived tables that went stale. */
            stale: string[];
        };
        /** @description Where the rows go. */
        MaterializeTarget: {
            /**
             * @description `new`: one table for each region; `append`: into `table`.
             * @enum {string}
             */
            mode: "new" | "append";
            /** @description With `append`: the table. */
            table?: string | null;
            expected_version?: components["schemas"]["ExpectedVersion"];
        } & ({
            /** @enum {unknown} */
            mode: "new";
        } | {
            /** @enum {unknown} */
            mode: "append";
            table: string;
            expected_version: number | null;
        });
        /** @description Who is calling, and with what. */
        Me: {
            user: components["schemas"]["User"];
            account_id: components["schemas"]["AccountId"];
            /** @description Name of that account. */
            account_name: string;
            /** @description The oldest workspace the account funds; `null` if none. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Name of that workspace. */
            workspace_name: string | null;
            /** @description What the credential may do. Sessions carry all scopes. */
            scopes: components["schemas"]["Scope"][];
            resource: components["schemas"]["ResourceReach"];
            plan: components["schemas"]["Plan"];
            plan_status: components["schemas"]["PlanStatus"];
            credits: components["schemas"]["Credits"];
            storage: components["schemas"]["Storage"];
            credential: components["schemas"]["Credential"];
        };
        /** @description A member of a workspace. */
        Member: {
            user: components["schemas"]["User"];
            role: components["schemas"]["BaseRole"];
            /** @description Custom roles. */
            roles: string[];
            /** @description Base role and custom roles together; what policies are matched against. */
            effective_roles: string[];
            /** @description Whether this is the workspace's owner. */
            is_owner: boolean;
        };
        /** @description Members, the owner first. */
        MemberList: {
            /** @description The page. */
            users: components["schemas"]["Member"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description Multipart form of a merge. */
        MergeForm: {
            /**
             * Format: binary
             * @description The edited export.
             */
            file: string;
            /** @description The branch point it was exported from. */
            branch_id: string;
            actor?: components["schemas"]["Actor"];
        };
        /** @description A row that a merge would change. */
        PlannedChange: {
            /**
             * Format: int64
             * @description Row id; `null` for a new row.
             */
            row_id: number | null;
            kind: components["schemas"]["RowChangeKind"];
            /** @description The cells that would change; of a new or a deleted row, those of the file's columns that have a value. */
            cells: components["schemas"]["CellChange"][];
        };
        /** @description A conflict that a merge would open. */
        PlannedConflict: {
            row_id: components["schemas"]["RowId"];
            /** @description The column; `__svc_row_id` for the row as a whole. */
            column: string;
            /** @description Value at the branch point. */
            base: unknown;
            /** @description Value that would be replaced. */
            prior: unknown;
            /** @description Value that would be written. */
            current: unknown;
        };
        /** @description Outcome of a merge. */
        MergeResponse: {
            edit_version: components["schemas"]["EditVersion"];
            /**
             * Format: int64
             * @description The op; `null` where nothing changed.
             */
            op_id: number | null;
            /**
             * Format: int64
             * @description Rows inserted.
             */
            inserted: number;
            /**
             * Format: int64
             * @description Rows updated.
             */
            updated: number;
            /**
             * Format: int64
             * @description Rows deleted.
             */
            deleted: number;
            /** @description Conflicts opened. */
            conflicts: components["schemas"]["ConflictId"][];
            /** @description Rows that did not change. */
            unchanged: number;
            /** @description With `dry_run`, the first 100 conflicts that would be opened; `conflicts` is then empty. */
            planned_conflicts?: components["schemas"]["PlannedConflict"][];
            /** @description With `dry_run`, the first 100 rows that would be changed, with their cells. */
            planned_changes?: components["schemas"]["PlannedChange"][];
        };
        /** @description Requests by credential and UTC day, from the token audit log. */
        MyUsage: {
            /** @description Days asked for. */
            days: number;
            /**
             * Format: date
             * @description First UTC day.
             */
            from: string;
            /**
             * Format: date
             * @description Last UTC day, today.
             */
            to: string;
            /** @description One entry for each credential with requests. */
            tokens: components["schemas"]["TokenUsage"][];
        };
        /** @description A workspace within reach. */
        MyWorkspace: {
            id: components["schemas"]["WorkspaceId"];
            /** @description Name. */
            name: string;
            /** @description Whether creations without `workspace_id` land here. */
            is_default: boolean;
            account_id: components["schemas"]["AccountId"];
            /** @description Kind of workspace. */
            kind: components["schemas"]["WorkspaceKind"];
            /**
             * @description Base role of the caller there.
             * @enum {string}
             */
            role: "admin" | "editor" | "viewer";
        };
        /** @description Reachable workspaces by name. */
        MyWorkspaceList: {
            /** @description The page. */
            workspaces: components["schemas"]["MyWorkspace"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /**
         * @description Language of the names that structuring makes up, such as `_階層1` or `_level1`. `auto` is English for files without Japanese and Japanese for all others.
         * @enum {string}
         */
        NamingChoice: "ja" | "en" | "auto";
        /** @description Opaque keyset cursor of the next page, or `null` on the last page. */
        NextCursor: string | null;
        /** @description An operation on a workbook. */
        Op: {
            /**
             * Format: int64
             * @description Number, ascending in the workbook.
             */
            op_id: number;
            /**
             * @description What was done, e.g. `rows.upsert`, `rows.delete`, `rows.undo`, `column.add`, `transform.run`, `formula.set`,
             *     `merge.apply`, `version.commit`.
             */
            kind: string;
            /** @description The table; `null` where it is about the workbook. */
            table: string | null;
            /**
             * Format: int64
             * @description Version it made; `null` where it made none.
             */
            edit_version: number | null;
            /** @description Who, as given. */
            actor: string | null;
            /** @description Who, by credential; `null` for the service itself. */
            user_id: components["schemas"]["UserId"] | null;
            credential: components["schemas"]["OpCredential"];
            /** @description What would replay it, e.g. a transform and its revision; `null` where the op itself says all. */
            code_ref: string | null;
            /** @description Whether undo takes it now. */
            undoable: boolean;
            /** @description The op that undid it; `null` if none. */
            undone_by: number | null;
            /**
             * Format: date-time
             * @description When.
             */
            created_at: string;
        };
        /** @description The credential behind an entry. */
        OpCredential: {
            /**
             * @description Kind of credential.
             * @enum {string}
             */
            kind: "session" | "access_token" | "account_key" | "system";
            /** @description Its id; `null` for the service itself. */
            id: string | null;
        };
        /** @description Ops, newest first. */
        OpList: {
            /** @description The page. */
            ops: components["schemas"]["Op"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description A table that was written. */
        OutputTable: {
            /** @description Name. */
            name: string;
            edit_version: components["schemas"]["EditVersion"];
            /**
             * Format: int64
             * @description Rows; `null` for a view.
             */
            row_count: number | null;
        };
        /** @description What was used beyond the credits. */
        Overage: {
            /** @description Overage stored from earlier periods, in credits. */
            arrears: number;
            /** @description Overage of the current period so far, in credits. */
            current: number;
            /** @description Overage is charged at the end of the period from this many credits on; less is carried on, and written off with the account. */
            settlement_floor: number;
            /** @description How much may be owed for work beyond the credits, arrears included; 0 outside pay-as-you-go and while a payment is overdue. A pack is used before that, so it raises what can be used. */
            ceiling: number;
        };
        /** @description A column of the table to be made. */
        ParseColumn: {
            /** @description Name. */
            name: string;
            /** @description Column letters in the sheet, e.g. `C`. */
            from: string;
            /** @description Column type. */
            type: string;
            /** @description How values are written, e.g. a date pattern. */
            format?: string | null;
        };
        /** @description A decision of structuring that could have gone otherwise. */
        ParseDecision: {
            /**
             * @description What was decided: where the table begins and ends, which rows are its header, whether it is a report or a form, which rows are computed, and whether periods become rows.
             * @enum {string}
             */
            about: "region" | "header_rows" | "kind" | "totals" | "long_form";
            /** @description How often readings with such evidence are right. */
            confidence: number;
            /** @description What speaks for it and what against it. */
            reason: string;
            /** @description The next best reading, where it is close. */
            otherwise?: string;
        };
        /** @description Something that people should know of a file that was structured. */
        ParseFinding: {
            /**
             * @description `total_mismatch`: a total is not what its parts add up to. `stale_result`: stored results are not what their formula gives. `no_value`: formulas without a result that cannot be computed. `missing_mark`: marks such as `-` became NULL. `forced_text`: a few cells made a column of numbers text. `not_understood`: the sheet stays raw. `conservation`: cells would be lost or used twice.
             * @enum {string}
             */
            kind: "total_mismatch" | "not_understood" | "conservation" | "missing_mark" | "forced_text" | "no_value" | "stale_result";
            /** @description Sheet. */
            sheet: string;
            /** @description Table as structuring named it; empty for the sheet. */
            table: string;
            /** @description The first cell; empty for the sheet. */
            cell: string;
            /** @description How many cells it is about; absent for one. */
            count?: number;
            /** @description The first of these cells. */
            cells?: string[];
            /** @description What the sheet says. */
            stated: number | null;
            /** @description What it should be. */
            computed: number | null;
            /** @description The finding in words. */
            message: string;
        };
        /** @description A column that stands for a period. */
        ParsePeriod: {
            /** @description Column letters in the sheet. */
            from: string;
            /** @description Period as written. */
            label: string;
            /**
             * Format: date
             * @description First day; `null` where it cannot be known. Left out in a PUT, it is read from the label.
             */
            start?: string | null;
            /** @description Measure it belongs to; `null` for a single nameless one. */
            measure?: string | null;
        };
        /** @description How the bytes are read. */
        ParseReader: {
            /**
             * @description File format.
             * @enum {string}
             */
            format: "xlsx" | "csv" | "tsv" | "parquet" | "json" | "ndjson" | "arrow";
            /** @description Text encoding, for csv and tsv. */
            encoding?: components["schemas"]["TextEncoding"] | null;
            /** @description Field delimiter, for csv and tsv. */
            delimiter?: string | null;
        };
        /** @description A region of a sheet and how it is read. */
        ParseRegion: {
            /** @description Id within the spec. */
            id: string;
            /** @description Sheet. */
            sheet: string;
            /** @description A1 range, header included. */
            range: string;
            kind: components["schemas"]["RegionKind"];
            /** @description Name of the table it makes; `null` for titles, notes and forms. */
            name: string | null;
            /** @description Name of the table that a title, note or form is about; `null` for none. */
            target?: string | null;
            /** @description Header rows, 1-based rows of the sheet. */
            header_rows: number[];
            /** @description A1 range of the values; `null` for titles and notes. */
            data_range: string | null;
            /**
             * @description Whether records run down or across.
             * @enum {string}
             */
            orientation: "rows" | "columns";
            /** @description Columns, in order; empty for titles and notes. */
            columns: components["schemas"]["ParseColumn"][];
            /** @description Columns that are reshaped to long form. */
            periods?: components["schemas"]["ParsePeriod"][];
            /** @description Rows and columns that are computed. */
            totals?: components["schemas"]["ParseTotal"][];
            /** @description Whether materialize takes it by default; every region of kind `data` is selected at first. */
            selected: boolean;
            /** @description How sure the reading is: that of its least sure decision. `null` or absent where nothing was decided, and for what people corrected. Ignored in a PUT. */
            confidence?: number | null;
            /** @description Decisions that could have gone otherwise. Ignored in a PUT. */
            decisions?: components["schemas"]["ParseDecision"][];
        };
        /** @description How a file is read: the reader and the regions of its sheets. */
        ParseSpec: {
            /** @description Version of the spec. A PUT must carry the current one; it is stored as the next. */
            version: number;
            reader: components["schemas"]["ParseReader"];
            /** @description The regions. */
            regions: components["schemas"]["ParseRegion"][];
            /** @description Sheets that were read as one of the same layout was corrected before. Ignored in a PUT. */
            learned?: components["schemas"]["LearnedSheet"][];
            /** @description What was found while the tables were made, one for each cause and table; absent where the file was only analysed or the spec corrected. Ignored in a PUT. */
            findings?: components["schemas"]["ParseFinding"][];
            /** @description Sheets that people should look at: those that stay raw, and those whose largest table was read with a confidence below 0.6. Ignored in a PUT. */
            doubtful?: components["schemas"]["DoubtfulSheet"][];
        };
        /** @description A parse spec, in short. */
        ParseSpecSummary: {
            /** @description Version of the spec. */
            version: number;
            /** @description Its regions. */
            regions: components["schemas"]["RegionSummary"][];
            /** @description Sheets that were read as one of the same layout was corrected before. */
            learned?: components["schemas"]["LearnedSheet"][];
            /** @description Sheets that people should look at: those that stay raw, and those whose largest table was read with a confidence below 0.6. */
            doubtful?: components["schemas"]["DoubtfulSheet"][];
        };
        /** @description A row or column that is computed from others. */
        ParseTotal: {
            /** @description A1 range. */
            range: string;
            /**
             * @description What it is.
             * @enum {string}
             */
            kind: "subtotal" | "total" | "computed";
            /** @description How it is computed, e.g. `売上高 - 売上原価`. */
            formula?: string | null;
        };
        /** @description Pay-as-you-go for an account. */
        PaygEnableRequest: {
            /** @description The account; default as for `GET /api/control/account`. */
            account_id?: string | null;
            /**
             * Format: uri
             * @description Where the page leads after the card is saved.
             */
            success_url?: string | null;
            /**
             * Format: uri
             * @description Where the page leads when the person turns back.
             */
            cancel_url?: string | null;
        };
        /**
         * @description Plan of an account.
         * @enum {string}
         */
        Plan: "free" | "payg" | "solo" | "pro";
        /**
         * @description Status of the subscription behind the plan.
         * @enum {string}
         */
        PlanStatus: "none" | "trialing" | "active" | "past_due" | "canceled";
        /** @description A rule. */
        Policy: {
            /** @description The tag. */
            tag: string;
            /** @description The role; `*` is every role. */
            role: string;
            effect: components["schemas"]["Effect"];
            /** @description Who set it, as given. */
            actor: string | null;
            /**
             * Format: date-time
             * @description When it was first set.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last set.
             */
            updated_at: string;
        };
        /** @description Rules, by tag and role. */
        PolicyList: {
            /** @description The page. */
            policies: components["schemas"]["Policy"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description The billing portal to send the person to. */
        PortalSession: {
            /**
             * Format: uri
             * @description Address of the portal.
             */
            portal_url: string;
            /** @description Id of the session at the provider. */
            session_id: string;
        };
        /** @description How cells look. */
        PreviewStyle: {
            align: components["schemas"]["TextAlign"];
            /** @description Bold type. */
            bold: boolean;
            /** @description Italic type. */
            italic: boolean;
            /** @description Color behind the text, `RRGGBB`; `null` for none. */
            fill: string | null;
            /** @description Color of the text, `RRGGBB`; `null` for the usual one. */
            color: string | null;
            /** @description How far the text is moved in. */
            indent: number;
        };
        /** @description Problem document (RFC 9457). `type` is the stable, machine-readable part; the texts may change. */
        Problem: {
            /** @description `urn:svc:problem:<slug>`. `info.x-problem-slugs` lists every slug with its status. */
            type: string;
            /** @description Short summary of the kind of problem. */
            title: string;
            /** @description The HTTP status. */
            status: number;
            /** @description What went wrong this time. */
            detail: string;
            /** @description What the caller can do about it. */
            suggested_fix: string;
            /** @description The request id, also in `X-Request-Id`. */
            instance: string;
            /** @description The single errors, where several things are wrong. */
            errors?: components["schemas"]["ProblemError"][];
            /**
             * Format: int64
             * @description With `version-conflict`: the table's current `edit_version`.
             */
            current_version?: number;
            /** @description With `version-conflict`: what changed since the caller's version (policy-applied, capped). */
            changed?: components["schemas"]["ChangedRow"][];
            /** @description With `version-conflict`: whether `changed` was capped. */
            changed_truncated?: boolean;
            /** @description With `cycle`: the names of the tables on the cycle, in order. */
            cycle?: string[];
            /** @description With `missing-scope`: the scope that is missing. */
            missing_scope?: string;
            /** @description With `outside-reach`: the reach that would be needed. */
            required_reach?: string;
            /** @description With `insufficient-role`: the base role that would be needed, where one would do. */
            required_role?: string;
            /** @description With `not-acceptable`: the media types that can be made. */
            available?: string[];
            /** @description With `method-not-allowed`: the methods this path has. */
            allow?: string[];
        };
        /** @description One of several things that are wrong. */
        ProblemError: {
            /** @description JSON pointer into the body, or `/query/<name>`, `/path/<name>`, `/header/<name>`. */
            pointer?: string;
            /** @description Slug of this error where it has one of its own. */
            type?: string;
            /** @description What is wrong with this part, for a person. */
            detail: string;
        };
        /** @description Where the bytes came from. */
        Provenance: {
            /**
             * @description Way in.
             * @enum {string}
             */
            kind: "upload" | "upload_slot" | "url" | "cloud" | "file_link";
            /** @description With `url`: the address, without credentials and query. */
            url?: string;
            /** @description With `cloud`: the drive provider. */
            provider?: components["schemas"]["DriveProvider"];
            /** @description With `cloud`: id of the file on the drive. */
            file_id?: string;
            link_id?: components["schemas"]["FileLinkId"];
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
        };
        /** @description A managed workspace to make. */
        ProvisionWorkspaceRequest: {
            /** @description Name. */
            name: string;
            /** @description Account that funds it; default the credential's own, for a session the default account. */
            account_id?: string | null;
            /** @description Declared data residency; recorded, nothing else. */
            residency?: string | null;
        };
        /** @description Multipart form of a new state of a tracked file. */
        PushVersionForm: {
            /**
             * Format: binary
             * @description The file.
             */
            file: string;
            /** @description Who changed it. */
            modified_by?: string | null;
            /**
             * Format: date-time
             * @description When it was changed, ISO 8601.
             */
            modified_time?: string | null;
        };
        /** @description A sheet. */
        PutSheetRequest: {
            /** @description Title; default the name. */
            title?: string | null;
            spec: components["schemas"]["SheetSpec"];
        };
        /** @description What is wrong with a query. */
        QueryError: {
            /** @description The message. */
            message: string;
            /** @description Line, 1-based; `null` where unknown. */
            line: number | null;
            /** @description Column, 1-based; `null` where unknown. */
            column: number | null;
        };
        /** @description A query. */
        QueryRequest: {
            /** @description One SELECT (WITH, set operations and windows included) over the workbook's active tables and views. */
            sql: string;
            /**
             * @description Values of the parameters: an array for `$1`, `$2` …, an object for `$name`. Each is a string, a number, a boolean or
             *     `null`.
             */
            params?: (string | number | boolean | null)[] | {
                [key: string]: string | number | boolean | null;
            } | null;
            /**
             * @description Rows of the first page.
             * @default 1000
             */
            limit?: number;
            /** @description Format of the first page, instead of `Accept`; the same as `format` in the query string. */
            format?: components["schemas"]["RowFormat"];
            /**
             * @description Time allowed, in milliseconds.
             * @default 30000
             */
            timeout_ms?: number;
            /** @description Version label or snapshot id to read the tables at; default the current state. */
            at?: string | null;
        };
        /** @description Manifest of a durable result and one page of its rows. */
        QueryResult: {
            id: components["schemas"]["ResultId"];
            /** @description Columns, in order. */
            columns: components["schemas"]["ColumnDef"][];
            /** @description Rows of the page, values by column name. */
            rows: components["schemas"]["SampleRow"][];
            /**
             * Format: int64
             * @description Rows of the whole result.
             */
            row_count: number;
            /**
             * Format: int64
             * @description `offset` of the next page; `null` on the last page.
             */
            next_offset: number | null;
            /** @description Result columns that are masked for the caller. */
            masked_columns: string[];
            /** @description Tables that were read, with their versions. */
            tables: components["schemas"]["ReadTable"][];
            /**
             * Format: date-time
             * @description When the result goes at the latest (24 hours).
             */
            expires_at: string;
            /**
             * Format: int64
             * @description Time the query took, in milliseconds.
             */
            elapsed_ms: number;
        };
        /** @description A table that was read. */
        ReadTable: {
            /** @description Name. */
            name: string;
            edit_version: components["schemas"]["EditVersion"];
        };
        /** @description Every part that requests need can be reached. */
        Readiness: {
            /**
             * @description Always `ready`; otherwise the answer is 503.
             * @enum {string}
             */
            status: "ready";
            /** @description State of each part: `database`, `blobs`, `temporal`, `queries`, `workers`. */
            checks: {
                [key: string]: components["schemas"]["PartState"];
            };
            /** @description What it means that a part is `away`. */
            notice: string | null;
        };
        /** @description A recompute. */
        RecomputeJob: {
            job_id: components["schemas"]["JobId"];
            /**
             * @description What it does. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "recompute";
            /** @description `pending` → `running` → `succeeded` or `failed`; a cancelled job is `failed`. */
            status: components["schemas"]["JobStatus"];
            /** @description The workbook it works on; `null` for account jobs. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description How far it is; `null` before it begins. */
            progress: components["schemas"]["JobProgress"] | null;
            /** @description On failure: a short message. */
            error?: string;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ended; `null` until then.
             */
            finished_at: string | null;
            /** @description On success: the same body as the synchronous form. */
            result?: components["schemas"]["RecomputeResponse"];
        };
        /** @description Outcome of a recomputation. */
        RecomputeResponse: {
            /** @description Tables and views that are fresh again, in the order they were run. */
            recomputed: components["schemas"]["OutputTable"][];
            /** @description Stale reports; they are not recomputed. */
            skipped_reports: string[];
            /** @description Artifacts whose transform failed; they stay stale. */
            failed: components["schemas"]["FailedTable"][];
            /** @description New `stale_override` conflicts. */
            conflicts: components["schemas"]["ConflictId"][];
        };
        /**
         * @description `data`: flat table; `report`: table with subtotals, totals or a hierarchy; `form`: label and value pairs; `title`;
         *     `note`.
         * @enum {string}
         */
        RegionKind: "data" | "report" | "title" | "note" | "form";
        /** @description A region of a sheet, in short. */
        RegionSummary: {
            /** @description Id within the spec. */
            id: string;
            /** @description Sheet. */
            sheet: string;
            /** @description A1 range, header included. */
            range: string;
            kind: components["schemas"]["RegionKind"];
            /** @description Name of the table it makes. */
            name: string | null;
            /** @description Whether materialize takes it by default. */
            selected: boolean;
            /** @description How sure the reading is; `null` where nothing was decided, and for what people corrected. */
            confidence?: number | null;
        };
        /** @description How to close a conflict. */
        ResolveConflictRequest: {
            /**
             * @description `acknowledge`: keep the current value; `revert` (`overwrite` only): write the prior value back; `drop_override`
             *     (`stale_override` only): take the override away.
             * @enum {string}
             */
            action: "acknowledge" | "revert" | "drop_override";
            actor?: components["schemas"]["Actor"];
        };
        /** @description The closed conflict. */
        ResolvedConflict: {
            id: components["schemas"]["ConflictId"];
            /** @description The table. */
            table: string;
            row_id: components["schemas"]["RowId"];
            /** @description The column. */
            column: string;
            /** @description `overwrite`: both sides changed the cell; `stale_override`: the value below an override changed. */
            kind: components["schemas"]["ConflictKind"];
            /** @description Status. */
            status: components["schemas"]["ConflictStatus"];
            /** @description Value at the branch point, or below the override when it was made. */
            base: unknown;
            /** @description Value that was replaced, or what the transform gives below the override now. */
            prior: unknown;
            /** @description Value now, or that of the override. */
            current: unknown;
            /** @description The branch point; `null` for `stale_override`. */
            branch_id: components["schemas"]["BranchId"] | null;
            /**
             * Format: date-time
             * @description When it was opened.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was closed; `null` while open.
             */
            resolved_at: string | null;
            /** @description Who closed it; `null` while open. */
            resolved_by: string | null;
            /**
             * Format: int64
             * @description The table's new version; `null` when nothing was written.
             */
            edit_version: number | null;
            /**
             * Format: int64
             * @description The op; `null` when nothing was written.
             */
            op_id: number | null;
            /** @description Derived tables that went stale. */
            stale: string[];
        };
        /** @description Reach of a credential: `account` (everything under the account), `workspace:<workspace_id>` or `workbook:<workbook_id>`. */
        ResourceReach: string;
        /** @description A restore of a snapshot or a version. */
        RestoreJob: {
            job_id: components["schemas"]["JobId"];
            /**
             * @description What it does. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "restore";
            /** @description `pending` → `running` → `succeeded` or `failed`; a cancelled job is `failed`. */
            status: components["schemas"]["JobStatus"];
            /** @description The workbook it works on; `null` for account jobs. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description How far it is; `null` before it begins. */
            progress: components["schemas"]["JobProgress"] | null;
            /** @description On failure: a short message. */
            error?: string;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ended; `null` until then.
             */
            finished_at: string | null;
            /** @description On success: the same body as the synchronous form. */
            result?: components["schemas"]["RestoreResponse"];
        };
        /** @description Outcome of a restore or revert. */
        RestoreResponse: {
            snapshot_id: components["schemas"]["SnapshotId"];
            /** @description Tables with a new version that holds the old content. */
            restored: components["schemas"]["OutputTable"][];
            /** @description Derived tables that were re-run. */
            recomputed: components["schemas"]["OutputTable"][];
            /** @description Tables made later; they are archived. */
            archived: string[];
            /** @description Derived tables whose transform failed; they are stale. */
            failed: components["schemas"]["FailedTable"][];
        };
        /** @description Identifier of a query result. */
        ResultId: string;
        /** @description Which developer account takes over the default account's card. */
        ReuseCardRequest: {
            /** @description The developer account. */
            account_id: string;
        };
        /** @description Findings. Nothing was changed. */
        Review: {
            /** @description Mode. */
            mode: components["schemas"]["ReviewMode"];
            /** @description The table; `null` for the whole workbook. */
            target: string | null;
            /** @description The findings, worst first. */
            findings: components["schemas"]["Finding"][];
            coverage: components["schemas"]["Coverage"];
            /** @description Whether a language model weighed the findings. */
            judged: boolean;
            /** @description Name of the saved report; `null` if not saved. */
            report: string | null;
            /** @description Credits spent. */
            credits_charged: number;
            /**
             * Format: date-time
             * @description When.
             */
            created_at: string;
        };
        /** @description A review. */
        ReviewJob: {
            job_id: components["schemas"]["JobId"];
            /**
             * @description What it does. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "review";
            /** @description `pending` → `running` → `succeeded` or `failed`; a cancelled job is `failed`. */
            status: components["schemas"]["JobStatus"];
            /** @description The workbook it works on; `null` for account jobs. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description How far it is; `null` before it begins. */
            progress: components["schemas"]["JobProgress"] | null;
            /** @description On failure: a short message. */
            error?: string;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ended; `null` until then.
             */
            finished_at: string | null;
            /** @description On success: the same body as the synchronous form. */
            result?: components["schemas"]["Review"];
        };
        /**
         * @description `lint`: rules; `agent`: with a language model.
         * @enum {string}
         */
        ReviewMode: "lint" | "agent";
        /** @description What to review, and how. */
        ReviewRequest: {
            /** @description A table; `null` or absent for the whole workbook. */
            target?: string | null;
            /**
             * @description `lint`: rules; `agent`: a language model looks as well and spends credits.
             * @default lint
             */
            mode?: components["schemas"]["ReviewMode"];
            /**
             * @description Answer 202 at once.
             * @default false
             */
            async?: boolean;
            /**
             * @description With `lint`: let a language model weigh the findings, where there are credits.
             * @default false
             */
            judge?: boolean;
            /**
             * @description Keep the review as an artifact of type `report`; needs `workbooks:write`.
             * @default false
             */
            save?: boolean;
        };
        /** @description A row: the value of each visible column by name, and `__svc_row_id`. */
        Row: {
            /**
             * Format: int64
             * @description Row identifier.
             */
            __svc_row_id: number;
        } & {
            [key: string]: unknown;
        };
        /** @description One change of a row. */
        RowChange: {
            /**
             * Format: int64
             * @description The op.
             */
            op_id: number;
            /**
             * Format: int64
             * @description Version it made.
             */
            edit_version: number;
            kind: components["schemas"]["RowChangeKind"];
            /** @description Who, as given. */
            actor: string | null;
            /** @description Who, by credential. */
            user_id: components["schemas"]["UserId"] | null;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description Changed cells, policy-applied. */
            cells: components["schemas"]["CellChange"][];
        };
        /**
         * @description What happens to a row, or has happened to it.
         * @enum {string}
         */
        RowChangeKind: "insert" | "update" | "delete";
        /** @description An updated row. */
        RowDiff: {
            /**
             * Format: int64
             * @description The row.
             */
            row_id: number;
            /** @description Changed cells. */
            cells: components["schemas"]["CellChange"][];
        };
        /** @description Every change of a row. */
        RowHistory: {
            /** @description Name of the table. */
            name: string;
            /**
             * Format: int64
             * @description The row.
             */
            row_id: number;
            /** @description The changes, newest first. */
            changes: components["schemas"]["RowChange"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /**
         * Format: int64
         * @description Row identifier: given by the table, never reused, unchanged by edits, renames, snapshots, exports and merges.
         */
        RowId: number;
        /** @description Values by column name. `__svc_row_id` absent = insert, present = update of the given cells. */
        RowInput: {
            /**
             * Format: int64
             * @description The row to update.
             */
            __svc_row_id?: number;
        } & {
            [key: string]: unknown;
        };
        /** @description One row at one version. */
        RowRead: {
            /** @description Name of the table. */
            name: string;
            row_id: components["schemas"]["RowId"];
            /** @description Version the row was read at. */
            edit_version: number;
            row: components["schemas"]["Row"];
            /** @description Columns that read as NULL for the caller. */
            masked_columns: string[];
        };
        /**
         * @description JSON Schema of one row, built from the policy-applied columns: `additionalProperties: false`, every cell nullable,
         *     `__svc_row_id` absent = insert, present = update.
         */
        RowJsonSchema: {
            [key: string]: unknown;
        };
        /** @description Where a row came from. */
        RowLineage: {
            /** @description Name of the table. */
            name: string;
            /**
             * Format: int64
             * @description The row.
             */
            row_id: number;
            /** @description Cells of the sheet, for ingested rows. */
            cells: components["schemas"]["SourceCell"][];
            /** @description Input rows, for derived rows. */
            inputs: components["schemas"]["InputRow"][];
            /** @description Whether there are more than were listed. */
            truncated: boolean;
        };
        /** @description A page of rows. */
        RowsPage: {
            /** @description Name of the table. */
            name: string;
            /**
             * Format: int64
             * @description Version the rows were read at.
             */
            edit_version: number;
            /** @description Columns of the rows, in order. */
            columns: components["schemas"]["ColumnDef"][];
            /** @description The rows. */
            rows: components["schemas"]["Row"][];
            /**
             * Format: int64
             * @description Rows that match, over all pages.
             */
            row_count: number;
            next_cursor: components["schemas"]["NextCursor"];
            /** @description Columns that read as NULL for the caller. */
            masked_columns: string[];
        };
        /** @description How to run. */
        RunTransformRequest: {
            actor?: components["schemas"]["Actor"];
        };
        /** @description A row of a result: values by column name. */
        SampleRow: {
            [key: string]: unknown;
        };
        /**
         * @description Form of a schema.
         * @enum {string}
         */
        SchemaFormat: "columns" | "json-schema";
        /**
         * @description A permission, resource × action. There is no umbrella scope; within one resource `write` implies `read`.
         * @enum {string}
         */
        Scope: "workbooks:read" | "workbooks:write" | "workbooks:delete" | "cloud-files:read" | "governance:configure" | "workspaces:read" | "workspaces:create" | "workspaces:configure" | "workspaces:delete" | "keys:read" | "keys:mint" | "keys:revoke" | "account:read" | "billing:manage";
        /** @description A hit. */
        SearchHit: {
            /** @description Name of the artifact. */
            name: string;
            /** @description Kind of artifact. */
            type: string;
            workbook_id: components["schemas"]["WorkbookId"];
            /** @description Title of its workbook. */
            workbook_title: string;
            /** @description What it holds. */
            description: string | null;
            /** @description File name of the source it came from; `null` if none. */
            source: string | null;
            /** @description What matched. */
            matched: ("name" | "description" | "column" | "source")[];
            /** @description Matching columns, policy-applied. */
            columns: string[];
            /** @description Rank, higher is better. */
            score: number;
        };
        /** @description Hits, best first. */
        SearchResults: {
            /** @description The page. */
            results: components["schemas"]["SearchHit"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description What happened. Thin: ids, names, versions and the actor, never cell values. */
        ServiceEvent: components["schemas"]["ArtifactUpdatedEvent"] | components["schemas"]["ArtifactDeletedEvent"] | components["schemas"]["ArtifactStaleEvent"] | components["schemas"]["SnapshotCommittedEvent"] | components["schemas"]["SourceAnalyzedEvent"] | components["schemas"]["SourceMaterializedEvent"] | components["schemas"]["ConflictCreatedEvent"] | components["schemas"]["VersionBranchedEvent"] | components["schemas"]["VersionMergedEvent"] | components["schemas"]["JobCompletedEvent"] | components["schemas"]["WebhookTestEvent"];
        /**
         * @description `ready` when every part answers.
         * @enum {string}
         */
        ServiceStatus: "ready" | "not_ready";
        /** @description A fresh session. */
        SessionResponse: {
            user: components["schemas"]["User"];
            /** @description The session JWT, to be sent as bearer token. */
            session_token: string;
            /**
             * Format: date-time
             * @description When the session ends (12 hours).
             */
            expires_at: string;
        };
        /** @description A rule for a tag and a role. */
        SetPolicyRequest: {
            /**
             * @description Role; `*` is every role.
             * @default *
             */
            role?: string;
            effect: components["schemas"]["Effect"];
            actor?: components["schemas"]["Actor"];
        };
        /** @description The whole new set of custom roles. */
        SetRolesRequest: {
            /** @description Custom roles. The built-in names `admin`, `editor`, `viewer`, `owner` and `*` are reserved. */
            roles: string[];
        };
        /** @description A presentation composition that owns no data. */
        Sheet: {
            /** @description Name. */
            name: string;
            /** @description Title. */
            title: string | null;
            spec: components["schemas"]["SheetSpec"];
            /** @description Tables its blocks refer to. */
            tables: string[];
            /** @description Those of them that are gone or archived, and whose name no other table has. */
            missing_tables: string[];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at: string;
        };
        /** @description A block of a sheet. */
        SheetBlock: components["schemas"]["HeadingBlock"] | components["schemas"]["TextBlock"] | components["schemas"]["TableViewBlock"] | components["schemas"]["SpacerBlock"];
        /** @description Changes of one sheet. */
        SheetDiff: {
            /** @description The sheet. */
            sheet: string;
            /**
             * @description What happened to the sheet.
             * @enum {string}
             */
            status: "changed" | "added" | "removed";
            /** @description Changed cells. */
            changes: components["schemas"]["CellDiff"][];
            /** @description Whether cells were left out. */
            truncated: boolean;
        };
        /** @description Sheets, by name. */
        SheetList: {
            /** @description The page. */
            sheets: components["schemas"]["SheetSummary"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description What a sheet shows. */
        SheetSpec: {
            /** @description Blocks, from top to bottom. */
            blocks: components["schemas"]["SheetBlock"][];
        };
        /** @description A sheet in a list. */
        SheetSummary: {
            /** @description Name. */
            name: string;
            /** @description Title. */
            title: string | null;
            /** @description Tables its blocks refer to. */
            tables: string[];
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at: string;
        };
        /** @description Sign-up. */
        SignUpRequest: {
            /**
             * Format: email
             * @description E-mail address; compared without regard to case.
             */
            email: string;
            /**
             * Format: password
             * @description Password.
             */
            password: string;
            /** @description Display name. */
            name?: string | null;
        };
        /** @description A state of the workbook. */
        Snapshot: {
            id: components["schemas"]["SnapshotId"];
            /**
             * @description `editing`: the open one that edits land on; `committed`: immutable, can be restored.
             * @enum {string}
             */
            state: "editing" | "committed";
            /** @description What it is about; `null` while editing. */
            summary: string | null;
            /** @description Why it was committed; `null` while editing. */
            event_type: string | null;
            /** @description Tables and their versions. */
            tables: components["schemas"]["ReadTable"][];
            /** @description Labels that name it. */
            versions: string[];
            /** @description Who committed it; `null` while editing. */
            user_id: components["schemas"]["UserId"] | null;
            /**
             * Format: date-time
             * @description When it was opened.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was committed; `null` while editing.
             */
            committed_at: string | null;
        };
        /** @description A snapshot or a named version was taken. */
        SnapshotCommittedData: {
            /** @description Id of the snapshot. */
            snapshot_id: string;
            /** @description Label of a named version; else `null`. */
            label: string | null;
            /** @description Why it was taken. */
            event_type: string;
            /** @description How many tables it holds. */
            tables: number;
        };
        /** @description A snapshot or a named version was taken. */
        SnapshotCommittedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Kind of event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "snapshot.committed";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workbook. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description Its workspace. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Who, as given. */
            actor: string | null;
            data: components["schemas"]["SnapshotCommittedData"];
        };
        /** @description Identifier of a snapshot. */
        SnapshotId: string;
        /** @description Snapshots, newest first. */
        SnapshotList: {
            /** @description The page. */
            snapshots: components["schemas"]["Snapshot"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description An uploaded original file. Its bytes never change. */
        Source: {
            id: components["schemas"]["SourceId"];
            /** @description Name in the workbook; `_2`, `_3` … before the extension where a file name repeats with other bytes. */
            name: string;
            /** @description File name as uploaded. */
            filename: string;
            /** @description How it is ingested. */
            mode: components["schemas"]["IngestMode"];
            /**
             * @description Where it is in its life.
             * @enum {string}
             */
            status: "registered" | "analyzing" | "analyzed" | "ingesting" | "materialized" | "failed";
            /**
             * Format: int64
             * @description Bytes.
             */
            size: number;
            /** @description SHA-256 of the bytes, hex. */
            sha256: string;
            /** @description Media type as recognized from the bytes. */
            content_type: string;
            /**
             * Format: date-time
             * @description When it was registered.
             */
            created_at: string;
            provenance: components["schemas"]["Provenance"];
            /** @description Outcome of structuring; `null` while it is not known. */
            structuring: components["schemas"]["Structuring"] | null;
            structuring_reason: components["schemas"]["StructuringReason"];
            /** @description Names of the artifacts it produced. */
            artifacts: string[];
            /** @description The parse spec in short; `null` before analysis. */
            parse_spec: components["schemas"]["ParseSpecSummary"] | null;
            /** @description With `failed`: a short message. */
            error?: string;
        };
        /** @description A source has a new parse spec. */
        SourceAnalyzedData: {
            /** @description Id of the source. */
            source_id: string;
            /** @description Its name. */
            name: string;
            /** @description Version of the parse spec. */
            spec_version: number;
        };
        /** @description A source has a new parse spec. */
        SourceAnalyzedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Kind of event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "source.analyzed";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workbook. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description Its workspace. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Who, as given. */
            actor: string | null;
            data: components["schemas"]["SourceAnalyzedData"];
        };
        /** @description Cells of an original sheet. */
        SourceCell: {
            /** @description Name of the source. */
            source: string;
            /** @description Sheet; `null` for files other than xlsx. */
            sheet: string | null;
            /** @description A1 range. */
            range: string;
            /** @description Columns of the row that came from it. */
            columns: string[];
        };
        /** @description Identifier of a source. */
        SourceId: string;
        /** @description Sources, newest first. */
        SourceList: {
            /** @description The page. */
            sources: components["schemas"]["Source"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description Tables were made of a source. */
        SourceMaterializedData: {
            /** @description Id of the source. */
            source_id: string;
            /** @description Its name. */
            name: string;
            /** @description How, where structuring ran. */
            structuring?: components["schemas"]["Structuring"];
        };
        /** @description Tables were made of a source. */
        SourceMaterializedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Kind of event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "source.materialized";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workbook. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description Its workspace. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Who, as given. */
            actor: string | null;
            data: components["schemas"]["SourceMaterializedData"];
        };
        /** @description Raw cells of a sheet. */
        SourcePreview: {
            /** @description The sheet shown. */
            sheet: string;
            /** @description All sheets of the file. */
            sheets: string[];
            /** @description The range shown. */
            range: string;
            /** @description Rows of cells as shown in the sheet: the text that the number format makes, or a number where that text is the plain number. */
            values: (string | number | boolean | null)[][];
            /** @description Whether the sheet has more cells than were shown. */
            truncated: boolean;
            /** @description Merged cells that reach into the range, as A1 ranges of the sheet. Not looked for below the range in very large sheets. */
            merges: string[];
            /** @description Widths of the columns of the range, in characters; 0 for hidden ones. */
            column_widths: number[];
            /** @description Heights of the rows in `values`, in points; 0 for hidden ones. */
            row_heights: number[];
            /** @description The looks that occur. */
            styles: components["schemas"]["PreviewStyle"][];
            /** @description For each cell in `values` the position of its look in `styles`; `null` for blank cells. */
            style_ids: (number | null)[][];
        };
        /** @description A source and what came of it. */
        SourceUploadResponse: {
            source: components["schemas"]["Source"];
            /** @description Every artifact it produced. */
            artifacts: components["schemas"]["ArtifactSummary"][];
            structuring: components["schemas"]["Structuring"];
            structuring_reason?: components["schemas"]["StructuringReason"];
            /** @description With `raw_fallback`: what happened and what to do about it. With `structured`: that sheets were read as others of their layout were corrected. */
            notice?: string;
            /** @description With `defer`: the job that makes the structured tables. */
            job_id?: components["schemas"]["JobId"];
            /** @description Credits that this request spent; 0 where the structuring was served from cache, or was joined. */
            credits_charged: number;
            /** @description After `revise`: conflicts opened, for cells that were edited here and changed in the file. */
            conflicts?: components["schemas"]["ConflictId"][];
        };
        /** @description Blank rows. */
        SpacerBlock: {
            /**
             * @description Kind of block. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "spacer";
            /**
             * @description How many.
             * @default 1
             */
            rows?: number;
        };
        /**
         * @description What an account stores, in bytes. A write or upload that would bring tables and sources over the limit is 403
         *     `quota-exceeded`. Results of queries never stand in its way: the oldest go when their room is needed.
         */
        Storage: {
            /**
             * Format: int64
             * @description The current versions of tables.
             */
            tables_bytes: number;
            /**
             * Format: int64
             * @description Original files.
             */
            sources_bytes: number;
            /**
             * Format: int64
             * @description Results of queries that are still kept.
             */
            results_bytes: number;
            /**
             * Format: int64
             * @description What the account's plan allows; `null` where there is no limit.
             */
            limit_bytes: number | null;
        };
        /**
         * @description `structured`: structured tables took over; `skipped`: sheets as they are; `deferred`: raw tables now, structured ones
         *     later; `raw_fallback`: raw tables, see `structuring_reason`; `off`: staged, or switched off by configuration.
         * @enum {string}
         */
        Structuring: "structured" | "skipped" | "deferred" | "raw_fallback" | "off";
        /**
         * @description `auto`: structured tables; `skip`: each sheet as it is; `defer`: raw tables now, structured ones when they are ready.
         * @enum {string}
         */
        StructuringChoice: "auto" | "skip" | "defer";
        /**
         * @description Why `raw_fallback`: `no_credits`, `building` (identical content is being structured for another source right now) or
         *     `failed:<detail>`; otherwise `null`.
         */
        StructuringReason: string | null;
        /** @description How it looks. */
        Style: {
            /** @description Bold. */
            bold?: boolean;
            /** @description Italic. */
            italic?: boolean;
            /** @description Underlined. */
            underline?: boolean;
            /** @description Text color, `#RRGGBB`. */
            color?: string;
            /** @description Fill color, `#RRGGBB`. */
            background?: string;
            /** @description Number format as in a spreadsheet. */
            number_format?: string;
            align?: components["schemas"]["TextAlign"];
        };
        /** @description An annotation to set; it replaces the one on the same target. */
        StyleAnnotation: {
            target: components["schemas"]["AnnotationTarget"];
            style?: components["schemas"]["Style"];
            /** @description A note. */
            note?: string;
        };
        /** @description A stored mapping. It is inert: nothing is synchronized. */
        SyncBinding: {
            /** @description The table. */
            table: string;
            /** @description Who made it. */
            actor: string;
            /** @description Kind of external sheet. */
            external_kind: components["schemas"]["BindingKind"];
            /** @description Id or address of the external sheet. */
            external_ref: string;
            /** @description Direction. */
            direction: components["schemas"]["BindingDirection"];
            /** @description Column → side that owns it. */
            ownership_map: {
                [key: string]: string;
            } | null;
            /** @description What to mind, e.g. that the table is governed. */
            warnings: string[];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description Id of the binding. */
            id: string;
        };
        /** @description Sync-bindings of a table. */
        SyncBindingList: {
            /** @description Oldest first. */
            sync_bindings: components["schemas"]["SyncBinding"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description Multipart form of a returned file. */
        SyncForm: {
            /**
             * Format: binary
             * @description The returned file.
             */
            file: string;
            actor?: components["schemas"]["Actor"];
            /** @description The branch point; default the id written into the file. */
            branch_id?: string | null;
        };
        /** @description Outcome of a sync. */
        SyncResponse: {
            branch_id: components["schemas"]["BranchId"];
            /** @description Each table of the branch. */
            tables: components["schemas"]["SyncedTable"][];
        };
        /** @description Outcome of the merge of one table. */
        SyncedTable: {
            /** @description The table. */
            name: string;
            edit_version: components["schemas"]["EditVersion"];
            /**
             * Format: int64
             * @description The op; `null` where nothing changed.
             */
            op_id: number | null;
            /**
             * Format: int64
             * @description Rows inserted.
             */
            inserted: number;
            /**
             * Format: int64
             * @description Rows updated.
             */
            updated: number;
            /**
             * Format: int64
             * @description Rows deleted.
             */
            deleted: number;
            /** @description Conflicts opened. */
            conflicts: components["schemas"]["ConflictId"][];
            /** @description Rows that did not change. */
            unchanged: number;
            /** @description With `dry_run`, the first 100 conflicts that would be opened; `conflicts` is then empty. */
            planned_conflicts?: components["schemas"]["PlannedConflict"][];
            /** @description With `dry_run`, the first 100 rows that would be changed, with their cells. */
            planned_changes?: components["schemas"]["PlannedChange"][];
        };
        /** @description A table. */
        Table: {
            /** @description Name, unique among the active artifacts of its workbook. */
            name: string;
            /** @description `table` or `view`. */
            type: string;
            /** @description What it holds. */
            description: string | null;
            /** @description Internal id. */
            id: string;
            /**
             * Format: int64
             * @description Rows.
             */
            row_count: number;
            /** @description Columns, policy-applied. */
            schema: components["schemas"]["ColumnDef"][];
            /** @description State. */
            state: components["schemas"]["ArtifactState"];
            /** @description Name to use in SQL, equal to `name`. */
            table_name: string;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at: string;
            workbook_id: components["schemas"]["WorkbookId"];
            /**
             * Format: int64
             * @description Current version.
             */
            edit_version: number;
            freshness: components["schemas"]["Freshness"];
            layer: components["schemas"]["Layer"];
            /** @description Columns that read as NULL for the caller. */
            masked_columns: string[];
            /** @description Columns in order, policy-applied. */
            columns: components["schemas"]["ColumnInfo"][];
            /** @description Where it came from; `null` if not ingested. */
            source: components["schemas"]["TableOrigin"] | null;
            /** @description What derives it; `null` for base tables. */
            transform: components["schemas"]["TableTransform"] | null;
        };
        /** @description Dry run of the policies on a table. */
        TableAccess: {
            /** @description The table. */
            name: string;
            /** @description The roles that were assumed. */
            roles: string[];
            /** @description The user that was assumed; `null` if roles were. */
            user_id: components["schemas"]["UserId"] | null;
            /** @description Columns in order. */
            columns: components["schemas"]["ColumnAccess"][];
            /** @description Denied columns in all. */
            denied_count: number;
        };
        /** @description Differences between two versions, policy-applied. */
        TableDiff: {
            /** @description Name of the table. */
            name: string;
            /** @description Version on the left. */
            from: number;
            /** @description Version on the right. */
            to: number;
            /** @description Rows only on the right. */
            inserted: components["schemas"]["Row"][];
            /** @description Rows on both sides that differ. */
            updated: components["schemas"]["RowDiff"][];
            /** @description Rows only on the left. */
            deleted: components["schemas"]["Row"][];
            /** @description Inserted rows in all. */
            inserted_count: number;
            /** @description Updated rows in all. */
            updated_count: number;
            /** @description Deleted rows in all. */
            deleted_count: number;
            /** @description Whether rows were left out. */
            truncated: boolean;
        };
        /** @description The graph around a table: up to source ranges, down to derived tables and sheets. */
        TableLineage: {
            /** @description The table asked for. */
            name: string;
            /** @description Nodes. */
            nodes: components["schemas"]["LineageNode"][];
            /** @description Edges. */
            edges: components["schemas"]["LineageEdge"][];
        };
        /** @description Tables, by name. */
        TableList: {
            /** @description The page. */
            tables: components["schemas"]["TableSummary"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description Where an ingested table came from. */
        TableOrigin: {
            id: components["schemas"]["SourceId"];
            /** @description Name of the source. */
            name: string;
            /** @description Sheet; `null` for files other than xlsx. */
            sheet: string | null;
            /** @description A1 range of the region. */
            range: string | null;
        };
        /** @description Profile of a table. */
        TableProfile: {
            /** @description Name. */
            name: string;
            /**
             * Format: int64
             * @description Version it describes.
             */
            edit_version: number;
            /**
             * Format: int64
             * @description Rows.
             */
            row_count: number;
            /** @description Visible columns, in order. */
            columns: components["schemas"]["ColumnProfile"][];
        };
        /** @description A table in a list: an artifact summary with version and freshness. */
        TableSummary: {
            /** @description Name, unique among the active artifacts of its workbook. */
            name: string;
            /** @description `table` or `view`. */
            type: string;
            /** @description What it holds. */
            description: string | null;
            /** @description Internal id. */
            id: string;
            /**
             * Format: int64
             * @description Rows.
             */
            row_count: number;
            /** @description Columns, policy-applied. */
            schema: components["schemas"]["ColumnDef"][];
            /** @description State. */
            state: components["schemas"]["ArtifactState"];
            /** @description Name to use in SQL, equal to `name`. */
            table_name: string;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at: string;
            workbook_id: components["schemas"]["WorkbookId"];
            /**
             * Format: int64
             * @description Current version.
             */
            edit_version: number;
            freshness: components["schemas"]["Freshness"];
        };
        /** @description What derives a table. */
        TableTransform: {
            /** @description Name of the transform. */
            name: string;
            /** @description Language. */
            language: components["schemas"]["TransformLanguage"];
            /** @description Tables it reads. */
            inputs: string[];
            /** @description Key columns that keep row ids stable; `null` without key, the table then takes no row edits. */
            key: string[] | null;
        };
        /** @description Rows of a table. */
        TableViewBlock: {
            /**
             * @description Kind of block. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "table_view";
            /** @description Table of a table view, by name. */
            table: string;
            /** @description Columns of a table view, at least one; default all visible ones. Those that are gone or that the reader may not see are left out when the sheet is shown. */
            columns?: string[];
            /** @description Rows of a table view, at most. */
            limit?: number;
            /** @description Title of a table view. */
            title?: string;
        };
        /** @description A tag to attach. */
        TagColumnRequest: {
            /** @description The tag, e.g. `pii`, `hr`. */
            tag: string;
            actor?: components["schemas"]["Actor"];
        };
        /**
         * @description Where a text stands in its cell; numbers and dates at the right, unless the sheet says otherwise.
         * @enum {string}
         */
        TextAlign: "left" | "center" | "right";
        /** @description A paragraph. */
        TextBlock: {
            /**
             * @description Kind of block. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "text";
            /** @description Text. */
            text: string;
        };
        /**
         * @description Encoding of a text file.
         * @enum {string}
         */
        TextEncoding: "utf-8" | "utf-16le" | "utf-16be" | "shift_jis" | "euc-jp";
        /** @description A personal access token, redacted. */
        Token: {
            id: components["schemas"]["TokenId"];
            /** @description Name given at creation. */
            name: string;
            account_id: components["schemas"]["AccountId"];
            /** @description What it may do. */
            scopes: components["schemas"]["Scope"][];
            resource: components["schemas"]["ResourceReach"];
            /** @description Requests a minute it may make. */
            rate_limit_per_minute: number;
            /**
             * Format: date-time
             * @description When it ends.
             */
            expires_at: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last used, to within a minute; `null` if never.
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description When it was revoked; `null` while it is valid.
             */
            revoked_at: string | null;
            /** @description First characters of the plaintext, to recognize it by. */
            prefix: string;
        };
        /** @description Identifier of a personal access token. */
        TokenId: string;
        /** @description Tokens, newest first. */
        TokenList: {
            /** @description The page. */
            tokens: components["schemas"]["Token"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description Requests of one credential. */
        TokenUsage: {
            /** @description Id of the token, or of the key that asks. */
            token_id: string;
            /** @description Its name. */
            name: string | null;
            /** @description Kind of credential. */
            kind: components["schemas"]["CredentialKind"];
            /** @description Days with requests, oldest first; days without are left out. */
            daily: components["schemas"]["DailyCount"][];
            /**
             * Format: int64
             * @description Sum over the days.
             */
            total: number;
        };
        /** @description A frequent value. */
        TopValue: {
            /** @description The value. */
            value: unknown;
            /** @description How often. */
            count: number;
        };
        /** @description Outcome of a top-up. */
        TopupResponse: {
            /**
             * @description `paid`: charged to the card on file; `checkout`: there is no card or it was declined, send the person to `checkout_url`.
             * @enum {string}
             */
            status: "paid" | "checkout";
            /** @description Credits added now; 0 with `checkout`. */
            credits_added: number;
            credits: components["schemas"]["Credits"];
            /**
             * Format: uri
             * @description Address of the page; `null` with `paid`.
             */
            checkout_url: string | null;
            /** @description Id of the session; `null` with `paid`. */
            session_id: string | null;
        };
        /** @description A drive file to track. */
        TrackFileRequest: {
            /** @description Drive provider. */
            provider: components["schemas"]["DriveProvider"];
            /** @description Drive item id or file id. */
            file_id: string;
            /** @description File name; keep the extension. */
            filename: string;
            /** @description Track under another name. */
            as_name?: string | null;
            /** @description Look for changes by itself, so often; default not. */
            every?: components["schemas"]["FollowInterval"] | null;
        };
        /** @description Multipart form of a local file to track. */
        TrackLocalForm: {
            /**
             * Format: binary
             * @description The file.
             */
            file: string;
            /** @description Track under another name. */
            as_name?: string | null;
            /**
             * @description When the service has a source of that name: `auto` keeps its copy as version 1 where both look like the same file (a
             *     sheet in common), the sent file being version 2 unless it is identical, and refuses otherwise; `seed` forces that;
             *     `replace` overwrites its copy, the sent file being version 1; `refuse` refuses.
             * @default auto
             */
            on_existing?: string;
            /**
             * @description Where the file lives, e.g. a path; informative.
             * @default
             */
            origin?: string;
        };
        /** @description A transform: the unit of lineage. */
        Transform: {
            /** @description Name. */
            name: string;
            /** @description Language. */
            language: components["schemas"]["TransformLanguage"];
            /** @description The template; `null` where it uses or names a column that is denied to the caller. */
            template: string | null;
            /** @description Argument → table. */
            args: {
                [key: string]: string;
            };
            /** @description Name of the output table. */
            output: string;
            /** @description Key columns; `null` without. */
            key: string[] | null;
            /** @description How the output is kept. */
            materialize: components["schemas"]["Materialization"];
            /** @description Grows by one at every replacement. */
            revision: number;
            freshness: components["schemas"]["Freshness"];
            /**
             * Format: date-time
             * @description When it last ran; `null` if never.
             */
            last_run_at: string | null;
            /** @description Why the last run failed; `null` if it did not. */
            last_error: string | null;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
        };
        /** @description A run of a transform. */
        TransformJob: {
            job_id: components["schemas"]["JobId"];
            /**
             * @description What it does. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "transform";
            /** @description `pending` → `running` → `succeeded` or `failed`; a cancelled job is `failed`. */
            status: components["schemas"]["JobStatus"];
            /** @description The workbook it works on; `null` for account jobs. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description How far it is; `null` before it begins. */
            progress: components["schemas"]["JobProgress"] | null;
            /** @description On failure: a short message. */
            error?: string;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ended; `null` until then.
             */
            finished_at: string | null;
            /** @description On success: the same body as the synchronous form. */
            result?: components["schemas"]["TransformResult"];
        };
        /**
         * @description Language of a template.
         * @enum {string}
         */
        TransformLanguage: "sql" | "python";
        /** @description Transforms, by name. */
        TransformList: {
            /** @description The page. */
            transforms: components["schemas"]["Transform"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description A transform to create or replace, and to run. */
        TransformRequest: {
            /** @description Name of the transform. */
            name: string;
            /** @description Language of the template. */
            language: components["schemas"]["TransformLanguage"];
            /**
             * @description SQL with `{{ arg }}` in place of tables, or Python that defines `def transform(arg, …)` over pandas frames and
             *     returns one.
             */
            template: string;
            /** @description Argument → table. An argument is named by an identifier. `{{ arg }}` binds a table and nothing else: no text is spliced. */
            args: {
                [key: string]: string;
            };
            /** @description Name of the output table; default the transform's name. */
            output?: string | null;
            /** @description Columns that identify an output row; they keep row ids stable from run to run and allow row edits. */
            key?: string[] | null;
            /**
             * @description `table`: stored; `view`: computed when it is read (sql only).
             * @default table
             */
            materialize?: components["schemas"]["Materialization"];
            /**
             * @description Run it now.
             * @default true
             */
            run?: boolean;
            actor?: components["schemas"]["Actor"];
        };
        /** @description A transform and the outcome of its run. */
        TransformResult: {
            transform: components["schemas"]["Transform"];
            /** @description What it wrote; `null` when it was not run. */
            output: components["schemas"]["OutputTable"] | null;
            /**
             * Format: int64
             * @description The op; `null` when it was not run.
             */
            op_id: number | null;
            /** @description Tables downstream that were re-run. */
            recomputed: components["schemas"]["OutputTable"][];
            /** @description Tables downstream whose transform failed. */
            failed: components["schemas"]["FailedTable"][];
            /** @description New `stale_override` conflicts. */
            conflicts: components["schemas"]["ConflictId"][];
        };
        /** @description Outcome of an undo. */
        UndoResponse: {
            /**
             * Format: int64
             * @description The new op, of kind `rows.undo`.
             */
            op_id: number;
            /**
             * Format: int64
             * @description The op that was undone.
             */
            undone_op_id: number;
            /** @description The table. */
            table: string;
            edit_version: components["schemas"]["EditVersion"];
            /** @description Derived tables that went stale. */
            stale: string[];
        };
        /** @description What to change of a tracked file. */
        UpdateFileLinkRequest: {
            /** @description How often to look for changes; `null` for not at all. */
            every: components["schemas"]["FollowInterval"] | null;
        };
        /** @description Fields to change; those left out stay as they are. */
        UpdateWorkbookRequest: {
            /** @description New title. */
            title?: string;
            visibility?: components["schemas"]["Visibility"];
        };
        /** @description An upload slot. */
        Upload: {
            upload_id: components["schemas"]["UploadId"];
            workbook_id: components["schemas"]["WorkbookId"];
            /** @description File name. */
            filename: string;
            /**
             * @description `pending`: waits for the bytes; `uploaded`: bytes are there, the ingest runs or has failed; `ingested`: done.
             * @enum {string}
             */
            status: "pending" | "uploaded" | "ingested";
            /**
             * Format: uri
             * @description While `pending`: address for the PUT, signed.
             */
            upload_url?: string;
            /**
             * Format: date-time
             * @description Until when the PUT is accepted.
             */
            expires_at: string;
            /** @description The ingest; `null` while `pending`. */
            job_id: components["schemas"]["JobId"] | null;
            /** @description Why the ingest failed; another PUT may be tried until `expires_at`. Otherwise `null`. */
            error: string | null;
            /** @description The source, once `ingested`. */
            source: components["schemas"]["Source"] | null;
            /** @description Names of the artifacts, once `ingested`. */
            artifacts: string[];
        };
        /** @description Identifier of an upload slot. */
        UploadId: string;
        /** @description Multipart form of a source upload. */
        UploadSourceForm: {
            /**
             * Format: binary
             * @description The file: xlsx, xlsm (macros ignored), csv or tsv (UTF-8, UTF-16, Shift_JIS/CP932 and EUC-JP are detected); or parquet, json (an array of objects), ndjson or arrow (stream or file), which become a table with the types that they have, without structuring.
             */
            file: string;
            /**
             * @description `auto`: fully automatic; `staged`: bytes only, then analyze, correct and materialize.
             * @default auto
             */
            mode?: components["schemas"]["IngestMode"];
            /**
             * @description Answer 202 at once (`auto` only).
             * @default false
             */
            async?: boolean;
            /**
             * @description `auto`: structured tables; `skip`: each sheet as it is, about a second, free; `defer`: raw tables now, structured
             *     ones when they are ready. `null` means `auto`.
             * @default auto
             */
            structuring?: components["schemas"]["StructuringChoice"] | null;
        };
        /** @description Cells of one row to write. */
        UpdateRowRequest: {
            expected_version: components["schemas"]["ExpectedVersion"];
            /** @description Values by column name. `__svc_row_id` may be among them if it is that of the path. */
            row: {
                [key: string]: unknown;
            };
            actor?: components["schemas"]["Actor"];
            /**
             * @description On a version mismatch, apply the edit when its cells and the changed cells are disjoint.
             * @default false
             */
            rebase?: boolean;
        };
        /** @description Rows to insert and update, all or nothing. */
        UpsertRowsRequest: {
            expected_version: components["schemas"]["ExpectedVersion"];
            /** @description The rows. */
            rows: components["schemas"]["RowInput"][];
            /**
             * @description Columns whose values say which row is meant, instead of `__svc_row_id`. Each row must have them, and none may be
             *     null; JSON columns cannot be among them.
             */
            key?: string[];
            actor?: components["schemas"]["Actor"];
            /**
             * @description On a version mismatch, apply the edit when its cells and the changed cells are disjoint.
             * @default false
             */
            rebase?: boolean;
        };
        /** @description Outcome of a write. */
        UpsertRowsResult: {
            /**
             * Format: int64
             * @description New version.
             */
            edit_version: number;
            /**
             * Format: int64
             * @description The op.
             */
            op_id: number;
            /**
             * Format: int64
             * @description Rows inserted.
             */
            inserted: number;
            /**
             * Format: int64
             * @description Rows updated.
             */
            updated: number;
            /** @description Row ids in the order of the request. */
            row_ids: components["schemas"]["RowId"][];
            /** @description Derived tables that went stale. */
            stale: string[];
        };
        /** @description A public address to fetch. */
        UrlIngestRequest: {
            /**
             * Format: uri
             * @description Address; http and https only.
             */
            url: string;
            /** @description Name to register the source under; default from the address. */
            filename?: string | null;
            /**
             * @description As for an upload.
             * @default auto
             */
            mode?: components["schemas"]["IngestMode"];
            /**
             * @description As for an upload.
             * @default auto
             */
            structuring?: components["schemas"]["StructuringChoice"] | null;
            /**
             * @description Answer 202 at once (`auto` only).
             * @default false
             */
            async?: boolean;
        };
        /** @description One UTC day with activity. */
        UsageDay: {
            /**
             * Format: date
             * @description UTC day.
             */
            date: string;
            /** @description Requests of the day. */
            requests: number;
            /** @description Write operations of the day. */
            ops: number;
            /** @description Credits spent on the day. */
            credits: number;
            /**
             * Format: int64
             * @description Bytes stored, the day's last sample.
             */
            storage_bytes: number | null;
            /** @description Tables, the day's last sample. */
            tables: number | null;
        };
        /** @description Daily buckets. Flows are day totals, stocks the day's last sample; days without activity are left out. */
        UsageSeries: {
            account_id: components["schemas"]["AccountId"];
            /** @description Days asked for. */
            days: number;
            /**
             * Format: date
             * @description First UTC day.
             */
            from: string;
            /**
             * Format: date
             * @description Last UTC day, today.
             */
            to: string;
            /** @description The days, oldest first. */
            series: components["schemas"]["UsageDay"][];
        };
        /** @description A person. */
        User: {
            id: components["schemas"]["UserId"];
            /** @description E-mail address, lower-cased. */
            email: string;
            /** @description Display name. */
            name: string | null;
            /**
             * Format: date-time
             * @description When the user first appeared.
             */
            created_at: string;
        };
        /** @description Identifier of a user. */
        UserId: string;
        /** @description A query to check. */
        ValidateRequest: {
            /** @description The query. */
            sql: string;
            /**
             * @description Values of the parameters: an array for `$1`, `$2` …, an object for `$name`. Each is a string, a number, a boolean or
             *     `null`.
             */
            params?: (string | number | boolean | null)[] | {
                [key: string]: string | number | boolean | null;
            } | null;
        };
        /** @description Outcome of the check. */
        ValidateResponse: {
            /** @description Whether the query would run. */
            valid: boolean;
            /** @description What is wrong; empty when valid. */
            errors: components["schemas"]["QueryError"][];
            /** @description Columns the result would have; empty when invalid. */
            columns: components["schemas"]["ColumnDef"][];
        };
        /** @description A named, immutable label on a snapshot. */
        Version: {
            /** @description Label. */
            label: string;
            /** @description What it is about. */
            summary: string | null;
            snapshot_id: components["schemas"]["SnapshotId"];
            /** @description Tables and their versions. */
            tables: components["schemas"]["ReadTable"][];
            user_id: components["schemas"]["UserId"];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
        };
        /** @description A table went out in a file. */
        VersionBranchedData: {
            /** @description Id of the branch. */
            branch_id: string;
            /** @description Id of the table. */
            artifact_id: string;
            /** @description Its name. */
            name: string;
            /**
             * Format: int64
             * @description Version that went out.
             */
            edit_version: number;
        };
        /** @description A table went out in a file. */
        VersionBranchedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Kind of event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "version.branched";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workbook. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description Its workspace. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Who, as given. */
            actor: string | null;
            data: components["schemas"]["VersionBranchedData"];
        };
        /** @description Versions, newest first. */
        VersionList: {
            /** @description The page. */
            versions: components["schemas"]["Version"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description A file that had gone out was merged. */
        VersionMergedData: {
            /** @description Id of the branch; `null` where the file told none. */
            branch_id: string | null;
            /** @description Id of the table. */
            artifact_id: string;
            /** @description Its name. */
            name: string;
            /**
             * Format: int64
             * @description Version after the merge.
             */
            edit_version: number;
            /** @description Conflicts opened. */
            conflicts: number;
        };
        /** @description A file that had gone out was merged. */
        VersionMergedEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Kind of event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "version.merged";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workbook. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description Its workspace. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Who, as given. */
            actor: string | null;
            data: components["schemas"]["VersionMergedData"];
        };
        /**
         * @description `workspace`: members see it and editors edit it; `private`: its owner alone.
         * @enum {string}
         */
        Visibility: "workspace" | "private";
        /**
         * @description A personal event subscription. It sees the events of workbooks its user can see, within the reach of the credential that
         *     made it.
         */
        Webhook: {
            id: components["schemas"]["WebhookId"];
            /** @description Where events are sent. */
            url: string;
            /** @description Kinds subscribed to; all kinds when none was named. */
            events: components["schemas"]["EventKind"][];
            /** @description `disabled` after the receiver answered 410. */
            status: components["schemas"]["WebhookStatus"];
            resource: components["schemas"]["ResourceReach"];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Until when the previous secret signs too, after a rotation; otherwise `null`.
             */
            previous_secret_expires_at: string | null;
        };
        /** @description Identifier of a webhook. */
        WebhookId: string;
        /** @description Webhooks, newest first. */
        WebhookList: {
            /** @description The page. */
            webhooks: components["schemas"]["Webhook"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /**
         * @description A webhook whose receiver answered 410 is `disabled`.
         * @enum {string}
         */
        WebhookStatus: "active" | "disabled";
        /** @description A delivery somebody asked for, to try a webhook. */
        WebhookTestData: {
            webhook_id: components["schemas"]["WebhookId"];
        };
        /** @description A delivery somebody asked for, to try a webhook. */
        WebhookTestEvent: {
            /** @description Id of the event. */
            id: string;
            /**
             * @description Kind of event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "webhook.test";
            /**
             * Format: date-time
             * @description When it happened.
             */
            created_at: string;
            /** @description The workbook. */
            workbook_id: components["schemas"]["WorkbookId"] | null;
            /** @description Its workspace. */
            workspace_id: components["schemas"]["WorkspaceId"] | null;
            /** @description Who, as given. */
            actor: string | null;
            data: components["schemas"]["WebhookTestData"];
        };
        /** @description A working container: tables, sheets, versions and policies. */
        Workbook: {
            id: components["schemas"]["WorkbookId"];
            /** @description Title. */
            title: string;
            workspace_id: components["schemas"]["WorkspaceId"];
            account_id: components["schemas"]["AccountId"];
            visibility: components["schemas"]["Visibility"];
            owner: components["schemas"]["User"];
            /** @description Whether any column policy exists; raw bytes are then refused. */
            governed: boolean;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When anything in it last changed.
             */
            updated_at: string;
            counts: components["schemas"]["WorkbookCounts"];
        };
        /** @description How much is in a workbook. */
        WorkbookCounts: {
            /** @description Active tables. */
            tables: number;
            /** @description Sources. */
            sources: number;
            /** @description Sheets. */
            sheets: number;
            /** @description Charts. */
            charts: number;
        };
        /** @description Identifier of a workbook. */
        WorkbookId: string;
        /** @description Workbooks, newest first. */
        WorkbookList: {
            /** @description The page. */
            workbooks: components["schemas"]["Workbook"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
        /** @description A boundary of membership, billing and governance. */
        Workspace: {
            id: components["schemas"]["WorkspaceId"];
            /** @description Name. */
            name: string;
            account_id: components["schemas"]["AccountId"];
            /** @description `personal` is built in, `managed` ones are made through the API. */
            kind: components["schemas"]["WorkspaceKind"];
            /** @description Whether it is the oldest workspace of its account. */
            is_default: boolean;
            /** @description Declared data residency; recorded, nothing else. */
            residency: string | null;
            naming: components["schemas"]["NamingChoice"];
            /** @description Rules passed to a configured language model. */
            preprocess_rules: string | null;
            /** @description Declared identity-provider linkage; stored, not synchronized. */
            idp_config: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
        };
        /** @description Identifier of a workspace. */
        WorkspaceId: string;
        /**
         * @description `personal` ones come with an account.
         * @enum {string}
         */
        WorkspaceKind: "personal" | "managed";
        /** @description Workspaces, oldest first. */
        WorkspaceList: {
            /** @description The page. */
            workspaces: components["schemas"]["Workspace"][];
            next_cursor: components["schemas"]["NextCursor"];
        };
    };
    responses: {
        /** @description The caller has this content already, as `If-None-Match` says. */
        NotModified: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description `Accept` allows no format that can be made; `available` lists those. Slug: `not-acceptable`. */
        NotAcceptable: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:not-acceptable",
                 *       "title": "No format that can be made",
                 *       "status": 406,
                 *       "detail": "This cannot be answered as image/png.",
                 *       "suggested_fix": "Ask for application/json, application/x-ndjson, application/vnd.apache.arrow.stream, text/csv or application/vnd.apache.parquet.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3",
                 *       "available": [
                 *         "application/json",
                 *         "application/x-ndjson",
                 *         "application/vnd.apache.arrow.stream",
                 *         "text/csv",
                 *         "application/vnd.apache.parquet"
                 *       ]
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The request cannot be understood or carried out as asked. Slugs: `malformed-request`, `uncastable-value`,
         *     `derived-cannot-branch`, `query-refused`, `query-failed`, `query-timeout`, `query-too-large`, `url-refused`.
         */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:malformed-request",
                 *       "title": "Malformed request",
                 *       "status": 400,
                 *       "detail": "The body is not valid JSON: unexpected end of input at position 41.",
                 *       "suggested_fix": "Send a complete JSON document in UTF-8.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No valid credential was sent, or it has expired or been revoked. Slugs: `unauthenticated`, `token-expired`. */
        Unauthenticated: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "WWW-Authenticate": components["headers"]["WWWAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:unauthenticated",
                 *       "title": "Authentication required",
                 *       "status": 401,
                 *       "detail": "The request carries no credential.",
                 *       "suggested_fix": "Send `Authorization: Bearer <token>`.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The workbook's account is out of credits. Slugs: `out-of-credits`. */
        OutOfCredits: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:out-of-credits",
                 *       "title": "Out of credits",
                 *       "status": 402,
                 *       "detail": "Agent review needs 40 credits; 3 remain.",
                 *       "suggested_fix": "Buy a credit pack, or use `mode: lint`.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The credential is valid but may not do this. The problem names the scope, reach or role that is missing. Slugs:
         *     `missing-scope`, `outside-reach`, `insufficient-role`, `governed-workbook`, `quota-exceeded`, `not-owner`, `bad-signature`.
         */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:missing-scope",
                 *       "title": "Scope missing",
                 *       "status": 403,
                 *       "detail": "This operation needs the scope workbooks:write.",
                 *       "suggested_fix": "Mint a token with the scope workbooks:write.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3",
                 *       "missing_scope": "workbooks:write"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such resource, or it is outside the credential's account or visibility. Slugs: `not-found`. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:not-found",
                 *       "title": "Not found",
                 *       "status": 404,
                 *       "detail": "There is no table 売上明細 in this workbook.",
                 *       "suggested_fix": "List the tables of the workbook.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The path exists, the method does not. Answered on every path. Slugs: `method-not-allowed`. */
        MethodNotAllowed: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:method-not-allowed",
                 *       "title": "Method not allowed",
                 *       "status": 405,
                 *       "detail": "PATCH is not offered on this path.",
                 *       "suggested_fix": "Use one of the methods in the Allow header.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3",
                 *       "allow": [
                 *         "GET",
                 *         "POST"
                 *       ]
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The request contradicts the current state of the resource. Slugs: `version-conflict`, `name-taken`, `in-use`,
         *     `no-workspace`, `cycle`, `idempotency-in-progress`, `subscription-active`, `overage-unsettled`, `default-account`,
         *     `confirm-mismatch`.
         */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:version-conflict",
                 *       "title": "Version conflict",
                 *       "status": 409,
                 *       "detail": "The table is at version 43, the request expected 42.",
                 *       "suggested_fix": "Re-read the changed rows, re-apply the edit and send it with expected_version 43.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3",
                 *       "current_version": 43,
                 *       "changed": [
                 *         {
                 *           "row_id": 7,
                 *           "columns": [
                 *             "金額"
                 *           ]
                 *         }
                 *       ],
                 *       "changed_truncated": false
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It existed and is gone for good. Slugs: `expired`. */
        Gone: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:expired",
                 *       "title": "Expired",
                 *       "status": 410,
                 *       "detail": "The result was kept for 24 hours and has been removed.",
                 *       "suggested_fix": "Run the query again.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body, file or result is larger than the service takes. Slugs: `too-large`. */
        TooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:too-large",
                 *       "title": "Too large",
                 *       "status": 413,
                 *       "detail": "The body has more than 32 MiB.",
                 *       "suggested_fix": "Split the request.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The media type or the kind of file is not accepted here. Slugs: `unsupported-media`. */
        UnsupportedMedia: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:unsupported-media",
                 *       "title": "Unsupported media type",
                 *       "status": 415,
                 *       "detail": "The body must be application/json.",
                 *       "suggested_fix": "Set Content-Type: application/json.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A parameter or the body does not fit this contract, or the Idempotency-Key was used for another request. Slugs:
         *     `validation-failed`, `idempotency-mismatch`.
         */
        ValidationFailed: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:validation-failed",
                 *       "title": "Validation failed",
                 *       "status": 422,
                 *       "detail": "One value does not fit.",
                 *       "suggested_fix": "Correct the values that `errors` points to.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3",
                 *       "errors": [
                 *         {
                 *           "pointer": "/rows/0/金額",
                 *           "detail": "\"千二百\" is not a BIGINT."
                 *         }
                 *       ]
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many requests. Slugs: `rate-limited`. */
        RateLimited: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:rate-limited",
                 *       "title": "Rate limited",
                 *       "status": 429,
                 *       "detail": "The limit of 600 requests a minute is used up.",
                 *       "suggested_fix": "Wait for the seconds in Retry-After.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description An error of the service. No inner text is shown. Slugs: `internal`. */
        Internal: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:internal",
                 *       "title": "Internal error",
                 *       "status": 500,
                 *       "detail": "The service failed to answer this request.",
                 *       "suggested_fix": "Try again; if it stays, report the request id.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A part of the service cannot be reached right now. Slugs: `unavailable`. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:unavailable",
                 *       "title": "Unavailable",
                 *       "status": 503,
                 *       "detail": "The store did not answer in time.",
                 *       "suggested_fix": "Try again after the seconds in Retry-After.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description This installation does not offer it: not configured, or switched off. Slugs: `not-configured`. */
        NotConfigured: {
            headers: {
                "X-Request-Id": components["headers"]["XRequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "urn:svc:problem:not-configured",
                 *       "title": "Not available here",
                 *       "status": 501,
                 *       "detail": "No drive provider is configured.",
                 *       "suggested_fix": "Ask the operator of this installation.",
                 *       "instance": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /**
         * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
         *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
         *     one still runs, 409 `idempotency-in-progress`.
         */
        IdempotencyKey: string;
        /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
        Cursor: string;
        /** @description Entries a page, at most. */
        Limit20: number;
        /** @description Entries a page, at most. */
        Limit50: number;
        /** @description Entries a page, at most. */
        Limit100: number;
        /** @description Entries a page, at most. */
        Limit200: number;
        /** @description Entries a page, at most. */
        Limit500: number;
        /** @description Rows a page, at most. */
        LimitRows: number;
        /** @description Rows a page, at most. */
        LimitResult: number;
        /** @description Changes listed, at most; beyond it `truncated` is true. */
        LimitChanges: number;
        /** @description Cells a page, at most. */
        LimitCells: number;
        /** @description Rows to skip. */
        Offset: number;
        /**
         * @description The account meant. Default: the key's own account or, for a session, the user's default (oldest) account. An unknown one
         *     is 404.
         */
        AccountIdQuery: string;
        /**
         * @description Only workbooks of this workspace: an id, or the alias `personal`. One that cannot be reached, an unknown one included,
         *     is 403 `outside-reach`, not an empty page.
         */
        WorkspaceIdQuery: string;
        /** @description Who is acting, as free text for the op log and the audit log. */
        ActorQuery: string;
        /** @description Format of the answer. It says the same as `Accept`, and wins over it. */
        FormatRows: components["schemas"]["RowFormat"];
        /** @description The `ETag` of an answer that the caller has. If it is still the same, 304 without a body. */
        IfNoneMatch: string;
        /**
         * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
         *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
         */
        IfMatch: string;
        /**
         * @description The `edit_version` the caller last saw, or the literal `null` for "do not check". Leaving it out is 422.
         * @example 42
         */
        ExpectedVersionQuery: string;
        /** @description How many UTC days back, today included. */
        Days: number;
        /** @description Which tables to list. */
        StateTables: components["schemas"]["ListedState"];
        /** @description Which artifacts to list. */
        StateArtifacts: components["schemas"]["ListedState"];
        /**
         * @description Id of the workbook.
         * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathWorkbookId: string;
        /**
         * @description Id of the workspace.
         * @example ws_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathWorkspaceId: string;
        /**
         * @description Id of the user.
         * @example usr_01JXQ2V7M0Z8K4T5R6W9A1B202
         */
        PathUserId: string;
        /**
         * @description Id of the key.
         * @example key_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathKeyId: string;
        /**
         * @description Id of the token.
         * @example tok_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathTokenId: string;
        /**
         * @description Id of the webhook.
         * @example whk_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathWebhookId: string;
        /**
         * @description Id of the delivery.
         * @example dlv_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathDeliveryId: string;
        /**
         * @description Id of the job.
         * @example job_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathJobId: string;
        /**
         * @description Id of the result.
         * @example res_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathResultId: string;
        /**
         * @description Id of the upload slot.
         * @example upl_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathUploadId: string;
        /**
         * @description Id of the conflict.
         * @example cfl_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathConflictId: string;
        /**
         * @description Id of the snapshot.
         * @example snp_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathSnapshotId: string;
        /**
         * @description Id of the file link.
         * @example lnk_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathLinkId: string;
        /**
         * @description Id of the payment session, unguessable; it is the whole authorization of the page.
         * @example cs_01JXQ2V7M0Z8K4T5R6W9A1B2C3
         */
        PathCheckoutSessionId: string;
        /**
         * @description Number of the op in its workbook.
         * @example 128
         */
        PathOpId: number;
        /**
         * @description The row's `__svc_row_id`.
         * @example 7
         */
        PathRowId: number;
        /**
         * @description Number of the file link version.
         * @example 2
         */
        PathVersionNumber: number;
        /**
         * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
         * @example 売上明細
         */
        PathName: string;
        /**
         * @description Name of the column, percent-encoded UTF-8.
         * @example 金額
         */
        PathColumn: string;
        /**
         * @description The tag, percent-encoded UTF-8.
         * @example pii
         */
        PathTag: string;
        /**
         * @description The version's label, percent-encoded UTF-8.
         * @example 2024年度確定
         */
        PathLabel: string;
        /**
         * @description Name of the source, percent-encoded UTF-8.
         * @example 損益.xlsx
         */
        PathSourceName: string;
        /**
         * @description Drive provider.
         * @example google_drive
         */
        PathProvider: components["schemas"]["DriveProvider"];
        /**
         * @description File name of a part of the page.
         * @example swagger-ui.css
         */
        PathAsset: string;
        /**
         * @description Name of a document.
         * @example api
         */
        PathGuidePage: string;
        /** @description Session id from the answer to `initialize`. */
        McpSessionId: string;
        /** @description Protocol version agreed on at `initialize`. */
        McpProtocolVersion: string;
        /**
         * @description Id of the sync-binding.
         * @example bnd_01JXQ2V7M0Z8K4T5R6W9A1B201
         */
        PathBindingId: string;
    };
    requestBodies: never;
    headers: {
        /** @description Identifier of this request, also `instance` in problems and in the logs. */
        XRequestId: string;
        /** @description What is left in the current window, e.g. `"default";r=587;t=42`. */
        RateLimit: string;
        /** @description The limit that applies, e.g. `"default";q=600;w=60`. */
        RateLimitPolicy: string;
        /** @description Seconds to wait before trying again. */
        RetryAfter: number;
        /** @description The challenge: `Bearer`, with `error="invalid_token"` where a credential was sent. */
        WWWAuthenticate: string;
        /** @description The methods this path has. */
        Allow: string;
        /** @description `true` when this is the stored answer of an earlier request with the same key. */
        IdempotencyReplayed: "true";
        /** @description Address of the resource or, with 202, of the job. */
        Location: string;
        /**
         * @description Names the content: `If-None-Match` with it answers 304 as long as it is the same. Of a table it begins with the
         *     `edit_version`, e.g. `"42-9c1f0d"`, and after a write it is that alone; `If-Match` takes either.
         */
        ETag: string;
        /** @description Name to save the file under, RFC 6266 with `filename*` in UTF-8. */
        ContentDisposition: string;
        /** @description Caching rules. */
        CacheControl: string;
        /** @description The cookie of the console, which scripts cannot read. */
        SetCookie: string;
        /** @description Something went other than asked for, and what to do about it; ASCII. */
        XSVCNotice: string;
        /** @description Id of the durable result. */
        XSVCResultId: string;
        /** @description `hit`: the same query over the same versions of its tables, by the same user, who may see the same of them, was asked before, and its result, with its own id and time of expiry, is the answer. `miss`: the query was run. */
        XSVCResultCache: "hit" | "miss";
        /** @description Number of rows of the whole result or, for a page of a table, of the rows that match. */
        XSVCRowCount: number;
        /** @description Names of the masked columns, percent-encoded UTF-8, comma-separated; empty when none. */
        XSVCMaskedColumns: string;
        /** @description Number of denied columns. They are never named. */
        XSVCDeniedColumns: number;
        /** @description Number of formulas kept in the file. */
        XSVCPreservedFormulas: number;
        /** @description Id of the branch point recorded by this export. */
        XSVCBranchId: string;
        /** @description Cursor of the next page; absent on the last page. */
        XSVCNextCursor: string;
        /** @description The table version these rows were read at. */
        XSVCEditVersion: number;
        /** @description Id of the MCP session, given by `initialize`. */
        McpSessionId: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    signUp: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "sato@example.co.jp",
                 *       "password": "correct horse battery",
                 *       "name": "佐藤 花子"
                 *     }
                 */
                "application/json": components["schemas"]["SignUpRequest"];
            };
        };
        responses: {
            /** @description The user was made and is logged in. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": {
                     *         "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "email": "sato@example.co.jp",
                     *         "name": "佐藤 花子",
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "session_token": "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c3JfMDFKWCJ9.c2lnbmF0dXJl",
                     *       "expires_at": "2025-06-14T14:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SessionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            501: components["responses"]["NotConfigured"];
            503: components["responses"]["Unavailable"];
        };
    };
    logIn: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "sato@example.co.jp",
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": components["schemas"]["LogInRequest"];
            };
        };
        responses: {
            /** @description A session. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": {
                     *         "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "email": "sato@example.co.jp",
                     *         "name": "佐藤 花子",
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "session_token": "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c3JfMDFKWCJ9.c2lnbmF0dXJl",
                     *       "expires_at": "2025-06-14T14:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SessionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    logOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session is revoked. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    openConsoleSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "sato@example.co.jp",
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": components["schemas"]["LogInRequest"];
            };
        };
        responses: {
            /** @description The person is logged in. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Set-Cookie": components["headers"]["SetCookie"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": {
                     *         "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "email": "sato@example.co.jp",
                     *         "name": "佐藤 花子",
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "expires_at": "2025-06-14T14:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ConsoleSession"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    closeConsoleSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session is revoked. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Set-Cookie": components["headers"]["SetCookie"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    beginOidcLogIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where to send the person. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Set-Cookie": components["headers"]["SetCookie"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "authorize_url": "https://login.example.co.jp/authorize?response_type=code&client_id=workbooks&state=x"
                     *     }
                     */
                    "application/json": components["schemas"]["OidcLogIn"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            501: components["responses"]["NotConfigured"];
            503: components["responses"]["Unavailable"];
        };
    };
    finishOidcLogIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "SplxlOBeZQQYbYS6WxSbIA",
                 *       "state": "af0ifjsldkj"
                 *     }
                 */
                "application/json": components["schemas"]["OidcCode"];
            };
        };
        responses: {
            /** @description The person is logged in. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Set-Cookie": components["headers"]["SetCookie"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": {
                     *         "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "email": "sato@example.co.jp",
                     *         "name": "佐藤 花子",
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "expires_at": "2025-06-14T14:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ConsoleSession"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            501: components["responses"]["NotConfigured"];
            503: components["responses"]["Unavailable"];
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credential. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": {
                     *         "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "email": "sato@example.co.jp",
                     *         "name": "佐藤 花子",
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "account_name": "佐藤 花子",
                     *       "workspace_id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "workspace_name": "個人",
                     *       "scopes": [
                     *         "workbooks:read",
                     *         "workbooks:write"
                     *       ],
                     *       "resource": "account",
                     *       "plan": "payg",
                     *       "plan_status": "active",
                     *       "credits": {
                     *         "included": 200,
                     *         "purchased": 5000,
                     *         "used": 340,
                     *         "remaining": 4860
                     *       },
                     *       "storage": {
                     *         "tables_bytes": 5242880,
                     *         "sources_bytes": 1048576,
                     *         "results_bytes": 20480,
                     *         "limit_bytes": 100000000000
                     *       },
                     *       "credential": {
                     *         "kind": "access_token",
                     *         "id": "tok_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "経理バッチ",
                     *         "expires_at": "2025-09-12T02:30:00Z",
                     *         "rate_limit_per_minute": 600
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Me"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getMyUsage: {
        parameters: {
            query?: {
                /** @description How many UTC days back, today included. */
                days?: components["parameters"]["Days"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "days": 30,
                     *       "from": "2025-05-16",
                     *       "to": "2025-06-14",
                     *       "tokens": [
                     *         {
                     *           "token_id": "tok_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "name": "経理バッチ",
                     *           "kind": "access_token",
                     *           "daily": [
                     *             {
                     *               "date": "2025-06-13",
                     *               "requests": 412
                     *             },
                     *             {
                     *               "date": "2025-06-14",
                     *               "requests": 96
                     *             }
                     *           ],
                     *           "total": 508
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["MyUsage"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listMyWorkspaces: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspaces. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workspaces": [
                     *         {
                     *           "id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "name": "個人",
                     *           "is_default": true,
                     *           "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "kind": "personal",
                     *           "role": "admin"
                     *         },
                     *         {
                     *           "id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *           "name": "経理部",
                     *           "is_default": false,
                     *           "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "kind": "managed",
                     *           "role": "editor"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["MyWorkspaceList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tokens. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "tokens": [
                     *         {
                     *           "id": "tok_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "name": "経理バッチ",
                     *           "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "scopes": [
                     *             "workbooks:read",
                     *             "workbooks:write"
                     *           ],
                     *           "resource": "account",
                     *           "rate_limit_per_minute": 600,
                     *           "expires_at": "2025-09-12T02:30:00Z",
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "last_used_at": "2025-06-14T03:05:00Z",
                     *           "revoked_at": null,
                     *           "prefix": "svc_pat_01JXQ2V7"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["TokenList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "経理バッチ",
                 *       "scopes": [
                 *         "workbooks:read",
                 *         "workbooks:write"
                 *       ],
                 *       "resource": "account",
                 *       "expires_in_days": 90,
                 *       "rate_limit_per_minute": 600,
                 *       "account_id": null
                 *     }
                 */
                "application/json": components["schemas"]["CreateTokenRequest"];
            };
        };
        responses: {
            /** @description The token, with its plaintext this once. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "token": "svc_pat_01JXQ2V7M0Z8K4T5R6W9A1B2C3_kq3Vx8Zr2",
                     *       "id": "tok_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "name": "経理バッチ",
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "scopes": [
                     *         "workbooks:read",
                     *         "workbooks:write"
                     *       ],
                     *       "resource": "account",
                     *       "rate_limit_per_minute": 600,
                     *       "expires_at": "2025-09-12T02:30:00Z",
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "last_used_at": null,
                     *       "revoked_at": null,
                     *       "prefix": "svc_pat_01JXQ2V7"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedToken"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the token.
                 * @example tok_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                token_id: components["parameters"]["PathTokenId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token is revoked. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAccount: {
        parameters: {
            query?: {
                /**
                 * @description The account meant. Default: the key's own account or, for a session, the user's default (oldest) account. An unknown one
                 *     is 404.
                 */
                account_id?: components["parameters"]["AccountIdQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "name": "佐藤 花子",
                     *       "kind": "default",
                     *       "owner_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "plan": "payg",
                     *       "plan_status": "active",
                     *       "created_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Account"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAccount: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B202",
                 *       "confirm": "取引先ポータル"
                 *     }
                 */
                "application/json": components["schemas"]["DeleteAccountRequest"];
            };
        };
        responses: {
            /** @description The cascade has begun. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                /** @description Accepted and without effect. */
                provision?: boolean;
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The accounts. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "accounts": [
                     *         {
                     *           "id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "name": "佐藤 花子",
                     *           "kind": "default",
                     *           "owner_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "plan": "payg",
                     *           "plan_status": "active",
                     *           "created_at": "2025-06-14T02:30:00Z"
                     *         },
                     *         {
                     *           "id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *           "name": "取引先ポータル",
                     *           "kind": "developer",
                     *           "owner_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "plan": "free",
                     *           "plan_status": "none",
                     *           "created_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AccountList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAccount: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "取引先ポータル"
                 *     }
                 */
                "application/json": components["schemas"]["CreateAccountRequest"];
            };
        };
        responses: {
            /** @description The account. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *       "name": "取引先ポータル",
                     *       "kind": "developer",
                     *       "owner_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "plan": "free",
                     *       "plan_status": "none",
                     *       "created_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Account"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAccountUsage: {
        parameters: {
            query?: {
                /** @description How many UTC days back, today included. */
                days?: components["parameters"]["Days"];
                /**
                 * @description The account meant. Default: the key's own account or, for a session, the user's default (oldest) account. An unknown one
                 *     is 404.
                 */
                account_id?: components["parameters"]["AccountIdQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The series. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "days": 30,
                     *       "from": "2025-05-16",
                     *       "to": "2025-06-14",
                     *       "series": [
                     *         {
                     *           "date": "2025-06-14",
                     *           "requests": 508,
                     *           "ops": 21,
                     *           "credits": 40,
                     *           "storage_bytes": 7340032,
                     *           "tables": 18
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["UsageSeries"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getBilling: {
        parameters: {
            query?: {
                /**
                 * @description The account meant. Default: the key's own account or, for a session, the user's default (oldest) account. An unknown one
                 *     is 404.
                 */
                account_id?: components["parameters"]["AccountIdQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Billing of the account. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "plan": "payg",
                     *       "plan_status": "active",
                     *       "interval": null,
                     *       "provider": "ledger",
                     *       "period_start": "2025-06-01T00:00:00Z",
                     *       "period_end": "2025-07-01T00:00:00Z",
                     *       "credits": {
                     *         "included": 200,
                     *         "purchased": 5000,
                     *         "used": 340,
                     *         "remaining": 4860
                     *       },
                     *       "auto_topup": {
                     *         "enabled": true,
                     *         "amount": 5000,
                     *         "threshold": 1000
                     *       },
                     *       "overage": {
                     *         "arrears": 0,
                     *         "current": 0,
                     *         "settlement_floor": 500,
                     *         "ceiling": 5000
                     *       },
                     *       "card": {
                     *         "brand": "visa",
                     *         "last4": "4242",
                     *         "exp_month": 12,
                     *         "exp_year": 2027
                     *       },
                     *       "shares_card_with": null
                     *     }
                     */
                    "application/json": components["schemas"]["Billing"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    configureAutoTopup: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": true,
                 *       "amount": 5000,
                 *       "threshold": 1000
                 *     }
                 */
                "application/json": components["schemas"]["AccountAutoTopupRequest"];
            };
        };
        responses: {
            /** @description Billing after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "plan": "payg",
                     *       "plan_status": "active",
                     *       "interval": null,
                     *       "provider": "ledger",
                     *       "period_start": "2025-06-01T00:00:00Z",
                     *       "period_end": "2025-07-01T00:00:00Z",
                     *       "credits": {
                     *         "included": 200,
                     *         "purchased": 5000,
                     *         "used": 340,
                     *         "remaining": 4860
                     *       },
                     *       "auto_topup": {
                     *         "enabled": true,
                     *         "amount": 5000,
                     *         "threshold": 1000
                     *       },
                     *       "overage": {
                     *         "arrears": 0,
                     *         "current": 0,
                     *         "settlement_floor": 500,
                     *         "ceiling": 5000
                     *       },
                     *       "card": {
                     *         "brand": "visa",
                     *         "last4": "4242",
                     *         "exp_month": 12,
                     *         "exp_year": 2027
                     *       },
                     *       "shares_card_with": null
                     *     }
                     */
                    "application/json": components["schemas"]["Billing"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    startCheckout: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "plan": "pro",
                 *       "interval": "annual",
                 *       "success_url": "https://example.co.jp/thanks",
                 *       "cancel_url": "https://example.co.jp/plans"
                 *     }
                 */
                "application/json": components["schemas"]["DevCheckoutRequest"];
            };
        };
        responses: {
            /** @description Where to send the person. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "checkout_url": "http://127.0.0.1:8080/api/control/billing/checkout/cs_01JXQ2V7M0Z8K4T5R6W9A1B2C3",
                     *       "session_id": "cs_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                     *     }
                     */
                    "application/json": components["schemas"]["CheckoutSession"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    enablePayg: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "success_url": "https://example.co.jp/thanks"
                 *     }
                 */
                "application/json": components["schemas"]["PaygEnableRequest"];
            };
        };
        responses: {
            /** @description Where to send the person. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "checkout_url": "http://127.0.0.1:8080/api/control/billing/checkout/cs_01JXQ2V7M0Z8K4T5R6W9A1B2C4",
                     *       "session_id": "cs_01JXQ2V7M0Z8K4T5R6W9A1B2C4"
                     *     }
                     */
                    "application/json": components["schemas"]["CheckoutSession"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    openBillingPortal: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "return_url": "https://example.co.jp/account"
                 *     }
                 */
                "application/json": components["schemas"]["DevPortalRequest"];
            };
        };
        responses: {
            /** @description Where to send the person. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "portal_url": "http://127.0.0.1:8080/api/control/billing/portal/ps_01JXQ2V7M0Z8K4T5R6W9A1B2C3",
                     *       "session_id": "ps_01JXQ2V7M0Z8K4T5R6W9A1B2C3"
                     *     }
                     */
                    "application/json": components["schemas"]["PortalSession"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    reuseCard: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B202"
                 *     }
                 */
                "application/json": components["schemas"]["ReuseCardRequest"];
            };
        };
        responses: {
            /** @description Billing after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *       "plan": "payg",
                     *       "plan_status": "active",
                     *       "interval": null,
                     *       "provider": "ledger",
                     *       "period_start": "2025-06-01T00:00:00Z",
                     *       "period_end": "2025-07-01T00:00:00Z",
                     *       "credits": {
                     *         "included": 200,
                     *         "purchased": 5000,
                     *         "used": 340,
                     *         "remaining": 4860
                     *       },
                     *       "auto_topup": {
                     *         "enabled": true,
                     *         "amount": 5000,
                     *         "threshold": 1000
                     *       },
                     *       "overage": {
                     *         "arrears": 0,
                     *         "current": 0,
                     *         "settlement_floor": 500,
                     *         "ceiling": 5000
                     *       },
                     *       "card": {
                     *         "brand": "visa",
                     *         "last4": "4242",
                     *         "exp_month": 12,
                     *         "exp_year": 2027
                     *       },
                     *       "shares_card_with": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["Billing"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    buyCredits: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "pack": "medium"
                 *     }
                 */
                "application/json": components["schemas"]["DevTopupRequest"];
            };
        };
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "paid",
                     *       "credits_added": 5000,
                     *       "credits": {
                     *         "included": 200,
                     *         "purchased": 10000,
                     *         "used": 340,
                     *         "remaining": 9860
                     *       },
                     *       "checkout_url": null,
                     *       "session_id": null
                     *     }
                     */
                    "application/json": components["schemas"]["TopupResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    receiveBillingCallback: {
        parameters: {
            query?: never;
            header?: {
                /** @description Signature of the provider over the raw body. */
                "stripe-signature"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The provider's event, as it signs it. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "evt_1",
                 *       "type": "checkout.session.completed",
                 *       "data": {
                 *         "object": {
                 *           "id": "cs_1"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The event was taken. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "received": true
                     *     }
                     */
                    "application/json": components["schemas"]["CallbackReceived"];
                };
            };
            400: components["responses"]["BadRequest"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCheckoutPage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the payment session, unguessable; it is the whole authorization of the page.
                 * @example cs_01JXQ2V7M0Z8K4T5R6W9A1B2C3
                 */
                session_id: components["parameters"]["PathCheckoutSessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>お支払い</title> */
                    "text/html": string;
                };
            };
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    completeCheckout: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the payment session, unguessable; it is the whole authorization of the page.
                 * @example cs_01JXQ2V7M0Z8K4T5R6W9A1B2C3
                 */
                session_id: components["parameters"]["PathCheckoutSessionId"];
            };
            cookie?: never;
        };
        /** @description The form. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "confirm"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    /**
                     * @description The button; `confirm_declined` saves a pretended card that pays nothing, to see what comes of that.
                     * @enum {string}
                     */
                    action: "confirm" | "confirm_declined" | "cancel";
                };
            };
        };
        responses: {
            /** @description The outcome as a page, where no address to lead to was given. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>完了しました</title> */
                    "text/html": string;
                };
            };
            /** @description To `success_url` or `cancel_url`. */
            303: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPortalPage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the payment session, unguessable; it is the whole authorization of the page.
                 * @example cs_01JXQ2V7M0Z8K4T5R6W9A1B2C3
                 */
                session_id: components["parameters"]["PathCheckoutSessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>お支払い設定</title> */
                    "text/html": string;
                };
            };
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    submitPortal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the payment session, unguessable; it is the whole authorization of the page.
                 * @example cs_01JXQ2V7M0Z8K4T5R6W9A1B2C3
                 */
                session_id: components["parameters"]["PathCheckoutSessionId"];
            };
            cookie?: never;
        };
        /** @description The form. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "cancel_subscription"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    /**
                     * @description The button.
                     * @enum {string}
                     */
                    action: "cancel_subscription" | "remove_card" | "return";
                };
            };
        };
        responses: {
            /** @description The portal after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>お支払い設定</title> */
                    "text/html": string;
                };
            };
            /** @description `return`: to `return_url`, where one was given. */
            303: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /**
                 * @description The account meant. Default: the key's own account or, for a session, the user's default (oldest) account. An unknown one
                 *     is 404.
                 */
                account_id?: components["parameters"]["AccountIdQuery"];
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The keys. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "keys": [
                     *         {
                     *           "id": "key_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "name": "CI",
                     *           "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "workspace_id": null,
                     *           "resource": "account",
                     *           "scopes": [
                     *             "workspaces:read",
                     *             "workspaces:create",
                     *             "workbooks:write"
                     *           ],
                     *           "rate_limit_per_minute": 600,
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "last_used_at": null,
                     *           "revoked_at": null,
                     *           "prefix": "svc_key_01JXQ2V7"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["KeyList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "CI",
                 *       "scopes": [
                 *         "workspaces:read",
                 *         "workspaces:create",
                 *         "workbooks:write"
                 *       ],
                 *       "rate_limit_per_minute": 600
                 *     }
                 */
                "application/json": components["schemas"]["CreateKeyRequest"];
            };
        };
        responses: {
            /** @description The key, with its plaintext this once. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key": "svc_key_01JXQ2V7M0Z8K4T5R6W9A1B2C3_p0Lm4Ns8",
                     *       "id": "key_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "name": "CI",
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "workspace_id": null,
                     *       "resource": "account",
                     *       "scopes": [
                     *         "workspaces:read",
                     *         "workspaces:create",
                     *         "workbooks:write"
                     *       ],
                     *       "rate_limit_per_minute": 600,
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "last_used_at": null,
                     *       "revoked_at": null,
                     *       "prefix": "svc_key_01JXQ2V7"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedKey"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    revokeKey: {
        parameters: {
            query?: {
                /**
                 * @description The account meant. Default: the key's own account or, for a session, the user's default (oldest) account. An unknown one
                 *     is 404.
                 */
                account_id?: components["parameters"]["AccountIdQuery"];
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the key.
                 * @example key_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                key_id: components["parameters"]["PathKeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key is revoked. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWorkspaces: {
        parameters: {
            query?: {
                /**
                 * @description The account meant. Default: the key's own account or, for a session, the user's default (oldest) account. An unknown one
                 *     is 404.
                 */
                account_id?: components["parameters"]["AccountIdQuery"];
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspaces. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workspaces": [
                     *         {
                     *           "id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *           "name": "経理部",
                     *           "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "kind": "managed",
                     *           "is_default": false,
                     *           "residency": "JP",
                     *           "naming": "ja",
                     *           "preprocess_rules": null,
                     *           "idp_config": null,
                     *           "created_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["WorkspaceList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    createWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "経理部",
                 *       "residency": "JP"
                 *     }
                 */
                "application/json": components["schemas"]["ProvisionWorkspaceRequest"];
            };
        };
        responses: {
            /** @description The workspace. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *       "name": "経理部",
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "kind": "managed",
                     *       "is_default": false,
                     *       "residency": "JP",
                     *       "naming": "ja",
                     *       "preprocess_rules": null,
                     *       "idp_config": null,
                     *       "created_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workspace.
                 * @example ws_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workspace_id: components["parameters"]["PathWorkspaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspace. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *       "name": "経理部",
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "kind": "managed",
                     *       "is_default": false,
                     *       "residency": "JP",
                     *       "naming": "ja",
                     *       "preprocess_rules": null,
                     *       "idp_config": null,
                     *       "created_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workspace.
                 * @example ws_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workspace_id: components["parameters"]["PathWorkspaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspace is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    configureWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workspace.
                 * @example ws_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workspace_id: components["parameters"]["PathWorkspaceId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "経理部",
                 *       "preprocess_rules": "単位は千円とみなす"
                 *     }
                 */
                "application/json": components["schemas"]["ConfigureWorkspaceRequest"];
            };
        };
        responses: {
            /** @description The workspace after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *       "name": "経理部",
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "kind": "managed",
                     *       "is_default": false,
                     *       "residency": "JP",
                     *       "naming": "ja",
                     *       "preprocess_rules": "単位は千円とみなす",
                     *       "idp_config": null,
                     *       "created_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Workspace"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWorkspaceUsers: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit100"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workspace.
                 * @example ws_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workspace_id: components["parameters"]["PathWorkspaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The members. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "users": [
                     *         {
                     *           "user": {
                     *             "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *             "email": "suzuki@example.co.jp",
                     *             "name": "鈴木 一郎",
                     *             "created_at": "2025-06-14T02:30:00Z"
                     *           },
                     *           "role": "editor",
                     *           "roles": [
                     *             "hr"
                     *           ],
                     *           "effective_roles": [
                     *             "editor",
                     *             "hr"
                     *           ],
                     *           "is_owner": false
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["MemberList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    addWorkspaceUser: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workspace.
                 * @example ws_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workspace_id: components["parameters"]["PathWorkspaceId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "suzuki@example.co.jp",
                 *       "role": "editor"
                 *     }
                 */
                "application/json": components["schemas"]["AddMemberRequest"];
            };
        };
        responses: {
            /** @description Was a member already; the base role is set. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": {
                     *         "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *         "email": "suzuki@example.co.jp",
                     *         "name": "鈴木 一郎",
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "role": "editor",
                     *       "roles": [
                     *         "hr"
                     *       ],
                     *       "effective_roles": [
                     *         "editor",
                     *         "hr"
                     *       ],
                     *       "is_owner": false
                     *     }
                     */
                    "application/json": components["schemas"]["Member"];
                };
            };
            /** @description The new member. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": {
                     *         "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *         "email": "suzuki@example.co.jp",
                     *         "name": "鈴木 一郎",
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "role": "editor",
                     *       "roles": [],
                     *       "effective_roles": [
                     *         "editor"
                     *       ],
                     *       "is_owner": false
                     *     }
                     */
                    "application/json": components["schemas"]["Member"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeWorkspaceUser: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workspace.
                 * @example ws_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workspace_id: components["parameters"]["PathWorkspaceId"];
                /**
                 * @description Id of the user.
                 * @example usr_01JXQ2V7M0Z8K4T5R6W9A1B202
                 */
                user_id: components["parameters"]["PathUserId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The member is removed. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    setUserRoles: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workspace.
                 * @example ws_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workspace_id: components["parameters"]["PathWorkspaceId"];
                /**
                 * @description Id of the user.
                 * @example usr_01JXQ2V7M0Z8K4T5R6W9A1B202
                 */
                user_id: components["parameters"]["PathUserId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "roles": [
                 *         "hr"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["SetRolesRequest"];
            };
        };
        responses: {
            /** @description The member after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": {
                     *         "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *         "email": "suzuki@example.co.jp",
                     *         "name": "鈴木 一郎",
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "role": "editor",
                     *       "roles": [
                     *         "hr"
                     *       ],
                     *       "effective_roles": [
                     *         "editor",
                     *         "hr"
                     *       ],
                     *       "is_owner": false
                     *     }
                     */
                    "application/json": components["schemas"]["Member"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWorkbooks: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
                /**
                 * @description Only workbooks of this workspace: an id, or the alias `personal`. One that cannot be reached, an unknown one included,
                 *     is 403 `outside-reach`, not an empty page.
                 */
                workspace_id?: components["parameters"]["WorkspaceIdQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workbooks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workbooks": [
                     *         {
                     *           "id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "title": "2024年度 決算",
                     *           "workspace_id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "visibility": "workspace",
                     *           "owner": {
                     *             "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *             "email": "sato@example.co.jp",
                     *             "name": "佐藤 花子",
                     *             "created_at": "2025-06-14T02:30:00Z"
                     *           },
                     *           "governed": false,
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "updated_at": "2025-06-14T03:10:00Z",
                     *           "counts": {
                     *             "tables": 6,
                     *             "sources": 2,
                     *             "sheets": 1,
                     *             "charts": 0
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["WorkbookList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    createWorkbook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "2024年度 決算"
                 *     }
                 */
                "application/json": components["schemas"]["CreateWorkbookRequest"];
            };
        };
        responses: {
            /** @description The workbook. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "title": "2024年度 決算",
                     *       "workspace_id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "visibility": "workspace",
                     *       "owner": {
                     *         "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "email": "sato@example.co.jp",
                     *         "name": "佐藤 花子",
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "governed": false,
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "updated_at": "2025-06-14T03:10:00Z",
                     *       "counts": {
                     *         "tables": 0,
                     *         "sources": 0,
                     *         "sheets": 0,
                     *         "charts": 0
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Workbook"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getWorkbook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workbook. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "title": "2024年度 決算",
                     *       "workspace_id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "visibility": "workspace",
                     *       "owner": {
                     *         "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "email": "sato@example.co.jp",
                     *         "name": "佐藤 花子",
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "governed": false,
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "updated_at": "2025-06-14T03:10:00Z",
                     *       "counts": {
                     *         "tables": 6,
                     *         "sources": 2,
                     *         "sheets": 1,
                     *         "charts": 0
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Workbook"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteWorkbook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workbook is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateWorkbook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "2024年度 決算（確定）"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateWorkbookRequest"];
            };
        };
        responses: {
            /** @description The workbook after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "title": "2024年度 決算（確定）",
                     *       "workspace_id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "visibility": "workspace",
                     *       "owner": {
                     *         "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "email": "sato@example.co.jp",
                     *         "name": "佐藤 花子",
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "governed": false,
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "updated_at": "2025-06-14T03:10:00Z",
                     *       "counts": {
                     *         "tables": 6,
                     *         "sources": 2,
                     *         "sheets": 1,
                     *         "charts": 0
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Workbook"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listMyWorkbooks: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
                /**
                 * @description Only workbooks of this workspace: an id, or the alias `personal`. One that cannot be reached, an unknown one included,
                 *     is 403 `outside-reach`, not an empty page.
                 */
                workspace_id?: components["parameters"]["WorkspaceIdQuery"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workbooks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workbooks": [
                     *         {
                     *           "id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "title": "2024年度 決算",
                     *           "workspace_id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "visibility": "workspace",
                     *           "owner": {
                     *             "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *             "email": "sato@example.co.jp",
                     *             "name": "佐藤 花子",
                     *             "created_at": "2025-06-14T02:30:00Z"
                     *           },
                     *           "governed": false,
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "updated_at": "2025-06-14T03:10:00Z",
                     *           "counts": {
                     *             "tables": 6,
                     *             "sources": 2,
                     *             "sheets": 1,
                     *             "charts": 0
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["WorkbookList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWorkspaceWorkbooks: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workspace.
                 * @example ws_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workspace_id: components["parameters"]["PathWorkspaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workbooks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workbooks": [
                     *         {
                     *           "id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "title": "2024年度 決算",
                     *           "workspace_id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "account_id": "acc_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "visibility": "workspace",
                     *           "owner": {
                     *             "id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *             "email": "sato@example.co.jp",
                     *             "name": "佐藤 花子",
                     *             "created_at": "2025-06-14T02:30:00Z"
                     *           },
                     *           "governed": false,
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "updated_at": "2025-06-14T03:10:00Z",
                     *           "counts": {
                     *             "tables": 6,
                     *             "sources": 2,
                     *             "sheets": 1,
                     *             "charts": 0
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["WorkbookList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listJobs: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The jobs. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "jobs": [
                     *         {
                     *           "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "kind": "ingest",
                     *           "status": "running",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "progress": {
                     *             "stage": "structure",
                     *             "done": 2,
                     *             "total": 5
                     *           },
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "finished_at": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["JobList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getJob: {
        parameters: {
            query?: {
                /** @description How many seconds to wait for the end of the job. */
                wait?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the job.
                 * @example job_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                job_id: components["parameters"]["PathJobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-SVC-Notice": components["headers"]["XSVCNotice"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "kind": "ingest",
                     *       "status": "succeeded",
                     *       "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "progress": {
                     *         "stage": "promote",
                     *         "done": 5,
                     *         "total": 5
                     *       },
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "finished_at": "2025-06-14T02:30:09Z",
                     *       "result": {
                     *         "source": {
                     *           "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "name": "損益.xlsx",
                     *           "filename": "損益.xlsx",
                     *           "mode": "auto",
                     *           "status": "materialized",
                     *           "size": 18342,
                     *           "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *           "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "provenance": {
                     *             "kind": "upload",
                     *             "at": "2025-06-14T02:30:00Z"
                     *           },
                     *           "structuring": "structured",
                     *           "structuring_reason": null,
                     *           "artifacts": [
                     *             "損益計算書_階層1",
                     *             "損益計算書_階層2",
                     *             "損益計算書_階層1_計算項目",
                     *             "損益計算書_科目",
                     *             "PL_補足情報"
                     *           ],
                     *           "parse_spec": {
                     *             "version": 1,
                     *             "regions": [
                     *               {
                     *                 "id": "r1",
                     *                 "sheet": "PL",
                     *                 "range": "A3:C8",
                     *                 "kind": "report",
                     *                 "name": "損益計算書",
                     *                 "selected": true
                     *               }
                     *             ]
                     *           }
                     *         },
                     *         "artifacts": [
                     *           {
                     *             "name": "損益計算書_階層1",
                     *             "type": "table",
                     *             "description": null,
                     *             "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *             "row_count": 4,
                     *             "schema": [
                     *               {
                     *                 "name": "科目",
                     *                 "type": "VARCHAR"
                     *               },
                     *               {
                     *                 "name": "期間",
                     *                 "type": "VARCHAR"
                     *               },
                     *               {
                     *                 "name": "値",
                     *                 "type": "BIGINT"
                     *               }
                     *             ],
                     *             "state": "active",
                     *             "table_name": "損益計算書_階層1",
                     *             "updated_at": "2025-06-14T02:30:00Z",
                     *             "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *           }
                     *         ],
                     *         "structuring": "structured",
                     *         "credits_charged": 12
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Job"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    followJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the last event seen. */
                "Last-Event-ID"?: string;
            };
            path: {
                /**
                 * @description Id of the job.
                 * @example job_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                job_id: components["parameters"]["PathJobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The job is over, and its end was seen. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    cancelJob: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the job.
                 * @example job_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                job_id: components["parameters"]["PathJobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "kind": "ingest",
                     *       "status": "failed",
                     *       "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "progress": {
                     *         "stage": "structure",
                     *         "done": 2,
                     *         "total": 5
                     *       },
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "finished_at": "2025-06-14T02:30:05Z",
                     *       "error": "cancelled"
                     *     }
                     */
                    "application/json": components["schemas"]["Job"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSources: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sources. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sources": [
                     *         {
                     *           "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "name": "損益.xlsx",
                     *           "filename": "損益.xlsx",
                     *           "mode": "auto",
                     *           "status": "materialized",
                     *           "size": 18342,
                     *           "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *           "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "provenance": {
                     *             "kind": "upload",
                     *             "at": "2025-06-14T02:30:00Z"
                     *           },
                     *           "structuring": "structured",
                     *           "structuring_reason": null,
                     *           "artifacts": [
                     *             "損益計算書_階層1",
                     *             "損益計算書_階層2",
                     *             "損益計算書_階層1_計算項目",
                     *             "損益計算書_科目",
                     *             "PL_補足情報"
                     *           ],
                     *           "parse_spec": {
                     *             "version": 1,
                     *             "regions": [
                     *               {
                     *                 "id": "r1",
                     *                 "sheet": "PL",
                     *                 "range": "A3:C8",
                     *                 "kind": "report",
                     *                 "name": "損益計算書",
                     *                 "selected": true
                     *               }
                     *             ]
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SourceList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    uploadSource: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        /** @description The file and how to ingest it. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "(bytes of 損益.xlsx)",
                 *       "mode": "auto",
                 *       "async": false,
                 *       "structuring": "auto"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["UploadSourceForm"];
            };
        };
        responses: {
            /** @description Identical bytes were there already. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-SVC-Notice": components["headers"]["XSVCNotice"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "source": {
                     *         "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "損益.xlsx",
                     *         "filename": "損益.xlsx",
                     *         "mode": "auto",
                     *         "status": "materialized",
                     *         "size": 18342,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *         "created_at": "2025-06-14T02:30:00Z",
                     *         "provenance": {
                     *           "kind": "upload",
                     *           "at": "2025-06-14T02:30:00Z"
                     *         },
                     *         "structuring": "structured",
                     *         "structuring_reason": null,
                     *         "artifacts": [
                     *           "損益計算書_階層1",
                     *           "損益計算書_階層2",
                     *           "損益計算書_階層1_計算項目",
                     *           "損益計算書_科目",
                     *           "PL_補足情報"
                     *         ],
                     *         "parse_spec": {
                     *           "version": 1,
                     *           "regions": [
                     *             {
                     *               "id": "r1",
                     *               "sheet": "PL",
                     *               "range": "A3:C8",
                     *               "kind": "report",
                     *               "name": "損益計算書",
                     *               "selected": true
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "artifacts": [
                     *         {
                     *           "name": "損益計算書_階層1",
                     *           "type": "table",
                     *           "description": null,
                     *           "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "row_count": 4,
                     *           "schema": [
                     *             {
                     *               "name": "科目",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "期間",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "値",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "state": "active",
                     *           "table_name": "損益計算書_階層1",
                     *           "updated_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *         }
                     *       ],
                     *       "structuring": "structured",
                     *       "credits_charged": 0
                     *     }
                     */
                    "application/json": components["schemas"]["SourceUploadResponse"];
                };
            };
            /** @description The source and what it produced. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-SVC-Notice": components["headers"]["XSVCNotice"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "source": {
                     *         "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "損益.xlsx",
                     *         "filename": "損益.xlsx",
                     *         "mode": "auto",
                     *         "status": "materialized",
                     *         "size": 18342,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *         "created_at": "2025-06-14T02:30:00Z",
                     *         "provenance": {
                     *           "kind": "upload",
                     *           "at": "2025-06-14T02:30:00Z"
                     *         },
                     *         "structuring": "structured",
                     *         "structuring_reason": null,
                     *         "artifacts": [
                     *           "損益計算書_階層1",
                     *           "損益計算書_階層2",
                     *           "損益計算書_階層1_計算項目",
                     *           "損益計算書_科目",
                     *           "PL_補足情報"
                     *         ],
                     *         "parse_spec": {
                     *           "version": 1,
                     *           "regions": [
                     *             {
                     *               "id": "r1",
                     *               "sheet": "PL",
                     *               "range": "A3:C8",
                     *               "kind": "report",
                     *               "name": "損益計算書",
                     *               "selected": true
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "artifacts": [
                     *         {
                     *           "name": "損益計算書_階層1",
                     *           "type": "table",
                     *           "description": null,
                     *           "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "row_count": 4,
                     *           "schema": [
                     *             {
                     *               "name": "科目",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "期間",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "値",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "state": "active",
                     *           "table_name": "損益計算書_階層1",
                     *           "updated_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *         }
                     *       ],
                     *       "structuring": "structured",
                     *       "credits_charged": 12
                     *     }
                     */
                    "application/json": components["schemas"]["SourceUploadResponse"];
                };
            };
            /** @description The ingest goes on as a job: `async` was asked for, or it takes longer than the synchronous form waits. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    importCloudFile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "provider": "google_drive",
                 *       "file_id": "1A2b3C4d5E",
                 *       "filename": "損益.xlsx"
                 *     }
                 */
                "application/json": components["schemas"]["CloudImportRequest"];
            };
        };
        responses: {
            /** @description Identical bytes were there already. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-SVC-Notice": components["headers"]["XSVCNotice"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "source": {
                     *         "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "損益.xlsx",
                     *         "filename": "損益.xlsx",
                     *         "mode": "auto",
                     *         "status": "materialized",
                     *         "size": 18342,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *         "created_at": "2025-06-14T02:30:00Z",
                     *         "provenance": {
                     *           "kind": "upload",
                     *           "at": "2025-06-14T02:30:00Z"
                     *         },
                     *         "structuring": "structured",
                     *         "structuring_reason": null,
                     *         "artifacts": [
                     *           "損益計算書_階層1",
                     *           "損益計算書_階層2",
                     *           "損益計算書_階層1_計算項目",
                     *           "損益計算書_科目",
                     *           "PL_補足情報"
                     *         ],
                     *         "parse_spec": {
                     *           "version": 1,
                     *           "regions": [
                     *             {
                     *               "id": "r1",
                     *               "sheet": "PL",
                     *               "range": "A3:C8",
                     *               "kind": "report",
                     *               "name": "損益計算書",
                     *               "selected": true
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "artifacts": [
                     *         {
                     *           "name": "損益計算書_階層1",
                     *           "type": "table",
                     *           "description": null,
                     *           "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "row_count": 4,
                     *           "schema": [
                     *             {
                     *               "name": "科目",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "期間",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "値",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "state": "active",
                     *           "table_name": "損益計算書_階層1",
                     *           "updated_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *         }
                     *       ],
                     *       "structuring": "structured",
                     *       "credits_charged": 0
                     *     }
                     */
                    "application/json": components["schemas"]["SourceUploadResponse"];
                };
            };
            /** @description The source and what it produced. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-SVC-Notice": components["headers"]["XSVCNotice"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "source": {
                     *         "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "損益.xlsx",
                     *         "filename": "損益.xlsx",
                     *         "mode": "auto",
                     *         "status": "materialized",
                     *         "size": 18342,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *         "created_at": "2025-06-14T02:30:00Z",
                     *         "provenance": {
                     *           "kind": "cloud",
                     *           "provider": "google_drive",
                     *           "file_id": "1A2b3C4d5E",
                     *           "at": "2025-06-14T02:30:00Z"
                     *         },
                     *         "structuring": "structured",
                     *         "structuring_reason": null,
                     *         "artifacts": [
                     *           "損益計算書_階層1",
                     *           "損益計算書_階層2",
                     *           "損益計算書_階層1_計算項目",
                     *           "損益計算書_科目",
                     *           "PL_補足情報"
                     *         ],
                     *         "parse_spec": {
                     *           "version": 1,
                     *           "regions": [
                     *             {
                     *               "id": "r1",
                     *               "sheet": "PL",
                     *               "range": "A3:C8",
                     *               "kind": "report",
                     *               "name": "損益計算書",
                     *               "selected": true
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "artifacts": [
                     *         {
                     *           "name": "損益計算書_階層1",
                     *           "type": "table",
                     *           "description": null,
                     *           "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "row_count": 4,
                     *           "schema": [
                     *             {
                     *               "name": "科目",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "期間",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "値",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "state": "active",
                     *           "table_name": "損益計算書_階層1",
                     *           "updated_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *         }
                     *       ],
                     *       "structuring": "structured",
                     *       "credits_charged": 12
                     *     }
                     */
                    "application/json": components["schemas"]["SourceUploadResponse"];
                };
            };
            /** @description The ingest goes on as a job: it takes longer than the synchronous form waits. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            501: components["responses"]["NotConfigured"];
            503: components["responses"]["Unavailable"];
        };
    };
    ingestUrl: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://www.example.go.jp/toukei/2024.csv",
                 *       "filename": "統計2024.csv"
                 *     }
                 */
                "application/json": components["schemas"]["UrlIngestRequest"];
            };
        };
        responses: {
            /** @description Identical bytes were there already. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-SVC-Notice": components["headers"]["XSVCNotice"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "source": {
                     *         "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "損益.xlsx",
                     *         "filename": "損益.xlsx",
                     *         "mode": "auto",
                     *         "status": "materialized",
                     *         "size": 18342,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *         "created_at": "2025-06-14T02:30:00Z",
                     *         "provenance": {
                     *           "kind": "upload",
                     *           "at": "2025-06-14T02:30:00Z"
                     *         },
                     *         "structuring": "structured",
                     *         "structuring_reason": null,
                     *         "artifacts": [
                     *           "損益計算書_階層1",
                     *           "損益計算書_階層2",
                     *           "損益計算書_階層1_計算項目",
                     *           "損益計算書_科目",
                     *           "PL_補足情報"
                     *         ],
                     *         "parse_spec": {
                     *           "version": 1,
                     *           "regions": [
                     *             {
                     *               "id": "r1",
                     *               "sheet": "PL",
                     *               "range": "A3:C8",
                     *               "kind": "report",
                     *               "name": "損益計算書",
                     *               "selected": true
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "artifacts": [
                     *         {
                     *           "name": "損益計算書_階層1",
                     *           "type": "table",
                     *           "description": null,
                     *           "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "row_count": 4,
                     *           "schema": [
                     *             {
                     *               "name": "科目",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "期間",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "値",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "state": "active",
                     *           "table_name": "損益計算書_階層1",
                     *           "updated_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *         }
                     *       ],
                     *       "structuring": "structured",
                     *       "credits_charged": 0
                     *     }
                     */
                    "application/json": components["schemas"]["SourceUploadResponse"];
                };
            };
            /** @description The source and what it produced. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-SVC-Notice": components["headers"]["XSVCNotice"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "source": {
                     *         "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "損益.xlsx",
                     *         "filename": "損益.xlsx",
                     *         "mode": "auto",
                     *         "status": "materialized",
                     *         "size": 18342,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *         "created_at": "2025-06-14T02:30:00Z",
                     *         "provenance": {
                     *           "kind": "url",
                     *           "url": "https://www.example.go.jp/toukei/2024.csv",
                     *           "at": "2025-06-14T02:30:00Z"
                     *         },
                     *         "structuring": "structured",
                     *         "structuring_reason": null,
                     *         "artifacts": [
                     *           "損益計算書_階層1",
                     *           "損益計算書_階層2",
                     *           "損益計算書_階層1_計算項目",
                     *           "損益計算書_科目",
                     *           "PL_補足情報"
                     *         ],
                     *         "parse_spec": {
                     *           "version": 1,
                     *           "regions": [
                     *             {
                     *               "id": "r1",
                     *               "sheet": "PL",
                     *               "range": "A3:C8",
                     *               "kind": "report",
                     *               "name": "損益計算書",
                     *               "selected": true
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "artifacts": [
                     *         {
                     *           "name": "損益計算書_階層1",
                     *           "type": "table",
                     *           "description": null,
                     *           "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "row_count": 4,
                     *           "schema": [
                     *             {
                     *               "name": "科目",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "期間",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "値",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "state": "active",
                     *           "table_name": "損益計算書_階層1",
                     *           "updated_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *         }
                     *       ],
                     *       "structuring": "structured",
                     *       "credits_charged": 12
                     *     }
                     */
                    "application/json": components["schemas"]["SourceUploadResponse"];
                };
            };
            /** @description The ingest goes on as a job: `async` was asked for, or it takes longer than the synchronous form waits. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the source, percent-encoded UTF-8.
                 * @example 損益.xlsx
                 */
                source_name: components["parameters"]["PathSourceName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The source. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "name": "損益.xlsx",
                     *       "filename": "損益.xlsx",
                     *       "mode": "auto",
                     *       "status": "materialized",
                     *       "size": 18342,
                     *       "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *       "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "provenance": {
                     *         "kind": "upload",
                     *         "at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "structuring": "structured",
                     *       "structuring_reason": null,
                     *       "artifacts": [
                     *         "損益計算書_階層1",
                     *         "損益計算書_階層2",
                     *         "損益計算書_階層1_計算項目",
                     *         "損益計算書_科目",
                     *         "PL_補足情報"
                     *       ],
                     *       "parse_spec": {
                     *         "version": 1,
                     *         "regions": [
                     *           {
                     *             "id": "r1",
                     *             "sheet": "PL",
                     *             "range": "A3:C8",
                     *             "kind": "report",
                     *             "name": "損益計算書",
                     *             "selected": true
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Source"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    analyzeSource: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the source, percent-encoded UTF-8.
                 * @example 損益.xlsx
                 */
                source_name: components["parameters"]["PathSourceName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The proposal. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": 1,
                     *       "reader": {
                     *         "format": "xlsx"
                     *       },
                     *       "regions": [
                     *         {
                     *           "id": "r1",
                     *           "sheet": "売上",
                     *           "range": "A1:D120",
                     *           "kind": "data",
                     *           "name": "売上明細",
                     *           "header_rows": [
                     *             1
                     *           ],
                     *           "data_range": "A2:D120",
                     *           "orientation": "rows",
                     *           "columns": [
                     *             {
                     *               "name": "日付",
                     *               "from": "A",
                     *               "type": "DATE",
                     *               "format": "yyyy/mm/dd"
                     *             },
                     *             {
                     *               "name": "得意先",
                     *               "from": "B",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "金額",
                     *               "from": "D",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "selected": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ParseSpec"];
                };
            };
            /** @description The analysis goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getParseSpec: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the source, percent-encoded UTF-8.
                 * @example 損益.xlsx
                 */
                source_name: components["parameters"]["PathSourceName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The spec. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": 1,
                     *       "reader": {
                     *         "format": "xlsx"
                     *       },
                     *       "regions": [
                     *         {
                     *           "id": "r1",
                     *           "sheet": "売上",
                     *           "range": "A1:D120",
                     *           "kind": "data",
                     *           "name": "売上明細",
                     *           "header_rows": [
                     *             1
                     *           ],
                     *           "data_range": "A2:D120",
                     *           "orientation": "rows",
                     *           "columns": [
                     *             {
                     *               "name": "日付",
                     *               "from": "A",
                     *               "type": "DATE",
                     *               "format": "yyyy/mm/dd"
                     *             },
                     *             {
                     *               "name": "得意先",
                     *               "from": "B",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "金額",
                     *               "from": "D",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "selected": true,
                     *           "confidence": 0.97,
                     *           "decisions": [
                     *             {
                     *               "about": "region",
                     *               "confidence": 0.98,
                     *               "reason": "nearly all cells are filled"
                     *             },
                     *             {
                     *               "about": "header_rows",
                     *               "confidence": 0.97,
                     *               "reason": "names stand over figures"
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ParseSpec"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    putParseSpec: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the source, percent-encoded UTF-8.
                 * @example 損益.xlsx
                 */
                source_name: components["parameters"]["PathSourceName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "version": 1,
                 *       "reader": {
                 *         "format": "xlsx"
                 *       },
                 *       "regions": [
                 *         {
                 *           "id": "r1",
                 *           "sheet": "売上",
                 *           "range": "A1:D120",
                 *           "kind": "data",
                 *           "name": "売上明細",
                 *           "header_rows": [
                 *             1
                 *           ],
                 *           "data_range": "A2:D120",
                 *           "orientation": "rows",
                 *           "columns": [
                 *             {
                 *               "name": "日付",
                 *               "from": "A",
                 *               "type": "DATE",
                 *               "format": "yyyy/mm/dd"
                 *             },
                 *             {
                 *               "name": "得意先",
                 *               "from": "B",
                 *               "type": "VARCHAR"
                 *             },
                 *             {
                 *               "name": "金額",
                 *               "from": "D",
                 *               "type": "BIGINT"
                 *             }
                 *           ],
                 *           "selected": true
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["ParseSpec"];
            };
        };
        responses: {
            /** @description The spec as stored. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": 2,
                     *       "reader": {
                     *         "format": "xlsx"
                     *       },
                     *       "regions": [
                     *         {
                     *           "id": "r1",
                     *           "sheet": "売上",
                     *           "range": "A1:D120",
                     *           "kind": "data",
                     *           "name": "売上明細",
                     *           "header_rows": [
                     *             1
                     *           ],
                     *           "data_range": "A2:D120",
                     *           "orientation": "rows",
                     *           "columns": [
                     *             {
                     *               "name": "日付",
                     *               "from": "A",
                     *               "type": "DATE",
                     *               "format": "yyyy/mm/dd"
                     *             },
                     *             {
                     *               "name": "得意先",
                     *               "from": "B",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "金額",
                     *               "from": "D",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "selected": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ParseSpec"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    materializeSource: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the source, percent-encoded UTF-8.
                 * @example 損益.xlsx
                 */
                source_name: components["parameters"]["PathSourceName"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "regions": [
                 *         "r1"
                 *       ],
                 *       "target": {
                 *         "mode": "append",
                 *         "table": "売上明細",
                 *         "expected_version": 42
                 *       },
                 *       "column_mapping": {
                 *         "得意先": "顧客"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["MaterializeRequest"];
            };
        };
        responses: {
            /** @description What was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "source": {
                     *         "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "損益.xlsx",
                     *         "filename": "損益.xlsx",
                     *         "mode": "staged",
                     *         "status": "materialized",
                     *         "size": 18342,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *         "created_at": "2025-06-14T02:30:00Z",
                     *         "provenance": {
                     *           "kind": "upload",
                     *           "at": "2025-06-14T02:30:00Z"
                     *         },
                     *         "structuring": "structured",
                     *         "structuring_reason": null,
                     *         "artifacts": [
                     *           "売上明細"
                     *         ],
                     *         "parse_spec": {
                     *           "version": 1,
                     *           "regions": [
                     *             {
                     *               "id": "r1",
                     *               "sheet": "PL",
                     *               "range": "A3:C8",
                     *               "kind": "report",
                     *               "name": "損益計算書",
                     *               "selected": true
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "artifacts": [
                     *         {
                     *           "name": "売上明細",
                     *           "type": "table",
                     *           "description": null,
                     *           "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "row_count": 4,
                     *           "schema": [
                     *             {
                     *               "name": "科目",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "期間",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "値",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "state": "active",
                     *           "table_name": "売上明細",
                     *           "updated_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *         }
                     *       ],
                     *       "edit_version": 43,
                     *       "op_id": 129,
                     *       "stale": [
                     *         "月次売上"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["MaterializeResponse"];
                };
            };
            /** @description The work goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    downloadSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the source, percent-encoded UTF-8.
                 * @example 損益.xlsx
                 */
                source_name: components["parameters"]["PathSourceName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Content-Disposition": components["headers"]["ContentDisposition"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                    "application/vnd.ms-excel.sheet.macroEnabled.12": string;
                    "text/csv": string;
                    "text/tab-separated-values": string;
                    "application/vnd.apache.parquet": string;
                    "application/json": string;
                    "application/x-ndjson": string;
                    "application/vnd.apache.arrow.file": string;
                    "application/vnd.apache.arrow.stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    previewSource: {
        parameters: {
            query?: {
                /** @description Sheet; default the first. An unknown one is 404. */
                sheet?: string;
                /** @description A1 range; default the first 100 rows and 50 columns. */
                range?: components["schemas"]["A1Range"];
                /** @description Cells, or a picture of them. */
                format?: "json" | "svg" | "png";
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the source, percent-encoded UTF-8.
                 * @example 損益.xlsx
                 */
                source_name: components["parameters"]["PathSourceName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cells. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sheet": "PL",
                     *       "sheets": [
                     *         "PL"
                     *       ],
                     *       "range": "A1:C4",
                     *       "values": [
                     *         [
                     *           "損益計算書",
                     *           null,
                     *           null
                     *         ],
                     *         [
                     *           "(単位：千円)",
                     *           null,
                     *           null
                     *         ],
                     *         [
                     *           "科目",
                     *           "2022年度",
                     *           "2023年度"
                     *         ],
                     *         [
                     *           "売上高",
                     *           1200,
                     *           1350
                     *         ]
                     *       ],
                     *       "truncated": true,
                     *       "merges": [
                     *         "A1:C1"
                     *       ],
                     *       "column_widths": [
                     *         18,
                     *         8.43,
                     *         8.43
                     *       ],
                     *       "row_heights": [
                     *         24,
                     *         15,
                     *         15,
                     *         15
                     *       ],
                     *       "styles": [
                     *         {
                     *           "align": "left",
                     *           "bold": true,
                     *           "italic": false,
                     *           "fill": null,
                     *           "color": null,
                     *           "indent": 0
                     *         },
                     *         {
                     *           "align": "left",
                     *           "bold": false,
                     *           "italic": false,
                     *           "fill": null,
                     *           "color": null,
                     *           "indent": 0
                     *         },
                     *         {
                     *           "align": "right",
                     *           "bold": false,
                     *           "italic": false,
                     *           "fill": null,
                     *           "color": null,
                     *           "indent": 0
                     *         }
                     *       ],
                     *       "style_ids": [
                     *         [
                     *           0,
                     *           null,
                     *           null
                     *         ],
                     *         [
                     *           1,
                     *           null,
                     *           null
                     *         ],
                     *         [
                     *           0,
                     *           0,
                     *           0
                     *         ],
                     *         [
                     *           1,
                     *           2,
                     *           2
                     *         ]
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SourcePreview"];
                    /** @example <svg xmlns="http://www.w3.org/2000/svg" width="400" height="240"></svg> */
                    "image/svg+xml": string;
                    "image/png": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    reviseSource: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the source, percent-encoded UTF-8.
                 * @example 損益.xlsx
                 */
                source_name: components["parameters"]["PathSourceName"];
            };
            cookie?: never;
        };
        /** @description The file. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "(bytes of 損益.xlsx)",
                 *       "actor": "佐藤"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["FileForm"];
            };
        };
        responses: {
            /** @description The source and its artifacts after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "source": {
                     *         "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "損益.xlsx",
                     *         "filename": "損益.xlsx",
                     *         "mode": "auto",
                     *         "status": "materialized",
                     *         "size": 18342,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *         "created_at": "2025-06-14T02:30:00Z",
                     *         "provenance": {
                     *           "kind": "upload",
                     *           "at": "2025-06-14T02:30:00Z"
                     *         },
                     *         "structuring": "structured",
                     *         "structuring_reason": null,
                     *         "artifacts": [
                     *           "損益計算書_階層1",
                     *           "損益計算書_階層2",
                     *           "損益計算書_階層1_計算項目",
                     *           "損益計算書_科目",
                     *           "PL_補足情報"
                     *         ],
                     *         "parse_spec": {
                     *           "version": 1,
                     *           "regions": [
                     *             {
                     *               "id": "r1",
                     *               "sheet": "PL",
                     *               "range": "A3:C8",
                     *               "kind": "report",
                     *               "name": "損益計算書",
                     *               "selected": true
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "artifacts": [
                     *         {
                     *           "name": "損益計算書_階層1",
                     *           "type": "table",
                     *           "description": null,
                     *           "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "row_count": 4,
                     *           "schema": [
                     *             {
                     *               "name": "科目",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "期間",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "値",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "state": "active",
                     *           "table_name": "損益計算書_階層1",
                     *           "updated_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *         }
                     *       ],
                     *       "structuring": "structured",
                     *       "credits_charged": 12
                     *     }
                     */
                    "application/json": components["schemas"]["SourceUploadResponse"];
                };
            };
            /** @description The ingest goes on as a job: `async` was asked for, or it takes longer than the synchronous form waits. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            402: components["responses"]["OutOfCredits"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    createUpload: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "filename": "損益.xlsx",
                 *       "structuring": "auto"
                 *     }
                 */
                "application/json": components["schemas"]["CreateUploadRequest"];
            };
        };
        responses: {
            /** @description The slot. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "upload_id": "upl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "filename": "損益.xlsx",
                     *       "status": "pending",
                     *       "upload_url": "http://127.0.0.1:8080/api/v1/uploads/upl_01JXQ2V7M0Z8K4T5R6W9A1B201?expires=1749871800&sig=Zm9vYmFy",
                     *       "expires_at": "2025-06-14T03:30:00Z",
                     *       "job_id": null,
                     *       "error": null,
                     *       "source": null,
                     *       "artifacts": []
                     *     }
                     */
                    "application/json": components["schemas"]["Upload"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getUpload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the upload slot.
                 * @example upl_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                upload_id: components["parameters"]["PathUploadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The slot. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "upload_id": "upl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "filename": "損益.xlsx",
                     *       "status": "ingested",
                     *       "expires_at": "2025-06-14T03:30:00Z",
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "error": null,
                     *       "source": {
                     *         "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "損益.xlsx",
                     *         "filename": "損益.xlsx",
                     *         "mode": "auto",
                     *         "status": "materialized",
                     *         "size": 18342,
                     *         "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *         "content_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *         "created_at": "2025-06-14T02:30:00Z",
                     *         "provenance": {
                     *           "kind": "upload",
                     *           "at": "2025-06-14T02:30:00Z"
                     *         },
                     *         "structuring": "structured",
                     *         "structuring_reason": null,
                     *         "artifacts": [
                     *           "損益計算書_階層1",
                     *           "損益計算書_階層2",
                     *           "損益計算書_階層1_計算項目",
                     *           "損益計算書_科目",
                     *           "PL_補足情報"
                     *         ],
                     *         "parse_spec": {
                     *           "version": 1,
                     *           "regions": [
                     *             {
                     *               "id": "r1",
                     *               "sheet": "PL",
                     *               "range": "A3:C8",
                     *               "kind": "report",
                     *               "name": "損益計算書",
                     *               "selected": true
                     *             }
                     *           ]
                     *         }
                     *       },
                     *       "artifacts": [
                     *         "損益計算書_階層1",
                     *         "損益計算書_階層2",
                     *         "損益計算書_階層1_計算項目",
                     *         "損益計算書_科目",
                     *         "PL_補足情報"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Upload"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    putUpload: {
        parameters: {
            query: {
                /** @description End of the slot, seconds since 1970; part of what is signed. */
                expires: number;
                /** @description The signature. */
                sig: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the upload slot.
                 * @example upl_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                upload_id: components["parameters"]["PathUploadId"];
            };
            cookie?: never;
        };
        /** @description The raw bytes of the file. Any media type is taken. */
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description The bytes are there, the ingest has begun. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "upload_id": "upl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "filename": "損益.xlsx",
                     *       "status": "uploaded",
                     *       "expires_at": "2025-06-14T03:30:00Z",
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "error": null,
                     *       "source": null,
                     *       "artifacts": []
                     *     }
                     */
                    "application/json": components["schemas"]["Upload"];
                };
            };
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listMyData: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The artifacts. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "artifacts": [
                     *         {
                     *           "name": "損益計算書_階層1",
                     *           "type": "table",
                     *           "description": null,
                     *           "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "row_count": 4,
                     *           "schema": [
                     *             {
                     *               "name": "科目",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "期間",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "値",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "state": "active",
                     *           "table_name": "損益計算書_階層1",
                     *           "updated_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ArtifactListResponse"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listArtifacts: {
        parameters: {
            query?: {
                /** @description Which artifacts to list. */
                state?: components["parameters"]["StateArtifacts"];
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit100"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The artifacts. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "artifacts": [
                     *         {
                     *           "name": "損益計算書_階層1",
                     *           "type": "table",
                     *           "description": null,
                     *           "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "row_count": 4,
                     *           "schema": [
                     *             {
                     *               "name": "科目",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "期間",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "値",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "state": "active",
                     *           "table_name": "損益計算書_階層1",
                     *           "updated_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ArtifactListResponse"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getArtifactSchema: {
        parameters: {
            query?: {
                /** @description `columns`: columns, types, row count and a sample of five rows; `json-schema`: JSON Schema of one row. */
                format?: components["schemas"]["SchemaFormat"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schema. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "edit_version": 42,
                     *       "columns": [
                     *         {
                     *           "column": "日付",
                     *           "name": "日付",
                     *           "type": "DATE",
                     *           "masked": false,
                     *           "description": null
                     *         },
                     *         {
                     *           "column": "得意先",
                     *           "name": "得意先",
                     *           "type": "VARCHAR",
                     *           "masked": true,
                     *           "description": null
                     *         },
                     *         {
                     *           "column": "金額",
                     *           "name": "金額",
                     *           "type": "BIGINT",
                     *           "masked": false,
                     *           "description": "税抜"
                     *         }
                     *       ],
                     *       "row_count": 119,
                     *       "sample": [
                     *         {
                     *           "日付": "2024-04-01",
                     *           "得意先": null,
                     *           "金額": 120000,
                     *           "__svc_row_id": 1
                     *         }
                     *       ],
                     *       "masked_columns": [
                     *         "得意先"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ArtifactSchema"];
                    /**
                     * @example {
                     *       "$schema": "https://json-schema.org/draft/2020-12/schema",
                     *       "type": "object",
                     *       "additionalProperties": false,
                     *       "properties": {
                     *         "__svc_row_id": {
                     *           "type": "integer",
                     *           "format": "int64",
                     *           "minimum": 1
                     *         },
                     *         "日付": {
                     *           "type": [
                     *             "string",
                     *             "null"
                     *           ],
                     *           "format": "date"
                     *         },
                     *         "得意先": {
                     *           "type": [
                     *             "string",
                     *             "null"
                     *           ]
                     *         },
                     *         "金額": {
                     *           "type": [
                     *             "integer",
                     *             "null"
                     *           ]
                     *         }
                     *       }
                     *     }
                     */
                    "application/schema+json": components["schemas"]["RowJsonSchema"];
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    describeArtifact: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "description": "受注ごとの売上"
                 *     }
                 */
                "application/json": components["schemas"]["ArtifactDescriptionBody"];
            };
        };
        responses: {
            /** @description The description. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "description": "受注ごとの売上"
                     *     }
                     */
                    "application/json": components["schemas"]["ArtifactDescription"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    archiveArtifact: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "state": "archived",
                     *       "table_name": "売上明細",
                     *       "type": "table"
                     *     }
                     */
                    "application/json": components["schemas"]["ArtifactStateResponse"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    unarchiveArtifact: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "損益_原本",
                     *       "state": "active",
                     *       "table_name": "損益_原本",
                     *       "type": "table"
                     *     }
                     */
                    "application/json": components["schemas"]["ArtifactStateResponse"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTables: {
        parameters: {
            query?: {
                /** @description Which tables to list. */
                state?: components["parameters"]["StateTables"];
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit100"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tables. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "tables": [
                     *         {
                     *           "name": "売上明細",
                     *           "type": "table",
                     *           "description": "受注ごとの売上",
                     *           "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *           "row_count": 119,
                     *           "schema": [
                     *             {
                     *               "name": "日付",
                     *               "type": "DATE"
                     *             },
                     *             {
                     *               "name": "得意先",
                     *               "type": "VARCHAR"
                     *             },
                     *             {
                     *               "name": "金額",
                     *               "type": "BIGINT"
                     *             }
                     *           ],
                     *           "state": "active",
                     *           "table_name": "売上明細",
                     *           "updated_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "edit_version": 42,
                     *           "freshness": {
                     *             "stale": false,
                     *             "stale_since": null
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["TableList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    createTable: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "売上明細",
                 *       "columns": [
                 *         {
                 *           "name": "日付",
                 *           "type": "DATE"
                 *         },
                 *         {
                 *           "name": "得意先"
                 *         },
                 *         {
                 *           "name": "金額",
                 *           "type": "BIGINT"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateTableRequest"];
            };
        };
        responses: {
            /** @description The table. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "table": {
                     *         "name": "売上明細",
                     *         "type": "table",
                     *         "edit_version": 1,
                     *         "layer": "base",
                     *         "table_name": "売上明細"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CreateTableResult"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The table. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "type": "table",
                     *       "description": "受注ごとの売上",
                     *       "id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *       "row_count": 119,
                     *       "schema": [
                     *         {
                     *           "name": "日付",
                     *           "type": "DATE"
                     *         },
                     *         {
                     *           "name": "得意先",
                     *           "type": "VARCHAR"
                     *         },
                     *         {
                     *           "name": "金額",
                     *           "type": "BIGINT"
                     *         }
                     *       ],
                     *       "state": "active",
                     *       "table_name": "売上明細",
                     *       "updated_at": "2025-06-14T02:30:00Z",
                     *       "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "edit_version": 42,
                     *       "freshness": {
                     *         "stale": false,
                     *         "stale_since": null
                     *       },
                     *       "layer": "base",
                     *       "masked_columns": [
                     *         "得意先"
                     *       ],
                     *       "columns": [
                     *         {
                     *           "column": "日付",
                     *           "name": "日付",
                     *           "type": "DATE",
                     *           "masked": false,
                     *           "description": null
                     *         },
                     *         {
                     *           "column": "得意先",
                     *           "name": "得意先",
                     *           "type": "VARCHAR",
                     *           "masked": true,
                     *           "description": null
                     *         },
                     *         {
                     *           "column": "金額",
                     *           "name": "金額",
                     *           "type": "BIGINT",
                     *           "masked": false,
                     *           "description": "税抜"
                     *         }
                     *       ],
                     *       "source": {
                     *         "id": "src_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "売上.xlsx",
                     *         "sheet": "売上",
                     *         "range": "A1:D120"
                     *       },
                     *       "transform": null
                     *     }
                     */
                    "application/json": components["schemas"]["Table"];
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteTable: {
        parameters: {
            query: {
                /**
                 * @description The `edit_version` the caller last saw, or the literal `null` for "do not check". Leaving it out is 422.
                 * @example 42
                 */
                expected_version: components["parameters"]["ExpectedVersionQuery"];
                /** @description Who is acting, as free text for the op log and the audit log. */
                actor?: components["parameters"]["ActorQuery"];
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The table is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTableSchema: {
        parameters: {
            query?: {
                /** @description `columns`: columns, types, row count and a sample of five rows; `json-schema`: JSON Schema of one row. */
                format?: components["schemas"]["SchemaFormat"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schema. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "edit_version": 42,
                     *       "columns": [
                     *         {
                     *           "column": "日付",
                     *           "name": "日付",
                     *           "type": "DATE",
                     *           "masked": false,
                     *           "description": null
                     *         },
                     *         {
                     *           "column": "得意先",
                     *           "name": "得意先",
                     *           "type": "VARCHAR",
                     *           "masked": true,
                     *           "description": null
                     *         },
                     *         {
                     *           "column": "金額",
                     *           "name": "金額",
                     *           "type": "BIGINT",
                     *           "masked": false,
                     *           "description": "税抜"
                     *         }
                     *       ],
                     *       "row_count": 119,
                     *       "sample": [
                     *         {
                     *           "日付": "2024-04-01",
                     *           "得意先": null,
                     *           "金額": 120000,
                     *           "__svc_row_id": 1
                     *         }
                     *       ],
                     *       "masked_columns": [
                     *         "得意先"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ArtifactSchema"];
                    /**
                     * @example {
                     *       "$schema": "https://json-schema.org/draft/2020-12/schema",
                     *       "type": "object",
                     *       "additionalProperties": false,
                     *       "properties": {
                     *         "__svc_row_id": {
                     *           "type": "integer",
                     *           "format": "int64",
                     *           "minimum": 1
                     *         },
                     *         "日付": {
                     *           "type": [
                     *             "string",
                     *             "null"
                     *           ],
                     *           "format": "date"
                     *         },
                     *         "得意先": {
                     *           "type": [
                     *             "string",
                     *             "null"
                     *           ]
                     *         },
                     *         "金額": {
                     *           "type": [
                     *             "integer",
                     *             "null"
                     *           ]
                     *         }
                     *       }
                     *     }
                     */
                    "application/schema+json": components["schemas"]["RowJsonSchema"];
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    profileTable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The profile. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "edit_version": 42,
                     *       "row_count": 119,
                     *       "columns": [
                     *         {
                     *           "name": "金額",
                     *           "type": "BIGINT",
                     *           "masked": false,
                     *           "null_count": 1,
                     *           "null_share": 0.0084,
                     *           "distinct": 97,
                     *           "min": 800,
                     *           "max": 980000,
                     *           "mean": 120431.5,
                     *           "top_values": [
                     *             {
                     *               "value": 120000,
                     *               "count": 6
                     *             }
                     *           ],
                     *           "histogram": [
                     *             {
                     *               "from": 800,
                     *               "to": 490400,
                     *               "count": 110
                     *             },
                     *             {
                     *               "from": 490400,
                     *               "to": 980000,
                     *               "count": 8
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["TableProfile"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTableLineage: {
        parameters: {
            query?: {
                /** @description Form of the answer: `json`, or `svg` for a picture. It says the same as `Accept`, and wins over it. */
                format?: components["schemas"]["LineageFormat"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The graph. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "月次売上",
                     *       "nodes": [
                     *         {
                     *           "id": "n1",
                     *           "kind": "source",
                     *           "name": "売上.xlsx"
                     *         },
                     *         {
                     *           "id": "n2",
                     *           "kind": "region",
                     *           "name": "A1:D120",
                     *           "sheet": "売上",
                     *           "range": "A1:D120"
                     *         },
                     *         {
                     *           "id": "n3",
                     *           "kind": "table",
                     *           "name": "売上明細",
                     *           "state": "active",
                     *           "edit_version": 42
                     *         },
                     *         {
                     *           "id": "n4",
                     *           "kind": "transform",
                     *           "name": "月次集計"
                     *         },
                     *         {
                     *           "id": "n5",
                     *           "kind": "table",
                     *           "name": "月次売上",
                     *           "state": "active",
                     *           "edit_version": 3,
                     *           "stale": false
                     *         }
                     *       ],
                     *       "edges": [
                     *         {
                     *           "from": "n1",
                     *           "to": "n2"
                     *         },
                     *         {
                     *           "from": "n2",
                     *           "to": "n3"
                     *         },
                     *         {
                     *           "from": "n3",
                     *           "to": "n4",
                     *           "columns": [
                     *             {
                     *               "column": "月",
                     *               "to": [],
                     *               "decides_rows": true
                     *             },
                     *             {
                     *               "column": "金額",
                     *               "to": [
                     *                 "合計"
                     *               ],
                     *               "decides_rows": false
                     *             }
                     *           ]
                     *         },
                     *         {
                     *           "from": "n4",
                     *           "to": "n5"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["TableLineage"];
                    /** @example <svg xmlns="http://www.w3.org/2000/svg" width="400" height="240"></svg> */
                    "image/svg+xml": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listColumns: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The columns. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "edit_version": 42,
                     *       "columns": [
                     *         {
                     *           "column": "日付",
                     *           "name": "日付",
                     *           "type": "DATE",
                     *           "masked": false,
                     *           "description": null
                     *         },
                     *         {
                     *           "column": "得意先",
                     *           "name": "得意先",
                     *           "type": "VARCHAR",
                     *           "masked": true,
                     *           "description": null
                     *         },
                     *         {
                     *           "column": "金額",
                     *           "name": "金額",
                     *           "type": "BIGINT",
                     *           "masked": false,
                     *           "description": "税抜"
                     *         }
                     *       ],
                     *       "table_name": "売上明細"
                     *     }
                     */
                    "application/json": components["schemas"]["ColumnsResponse"];
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    addTableColumn: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "column": "税率",
                 *       "type": "DECIMAL(4,2)",
                 *       "default": "0.10",
                 *       "expected_version": 42,
                 *       "actor": "佐藤"
                 *     }
                 */
                "application/json": components["schemas"]["AddColumnRequest"];
            };
        };
        responses: {
            /** @description The column. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "column": "税率",
                     *       "type": "DECIMAL(4,2)",
                     *       "edit_version": 43,
                     *       "op_id": 130,
                     *       "stale": [],
                     *       "broken": []
                     *     }
                     */
                    "application/json": components["schemas"]["ColumnChange"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    dropTableColumn: {
        parameters: {
            query: {
                /**
                 * @description The `edit_version` the caller last saw, or the literal `null` for "do not check". Leaving it out is 422.
                 * @example 42
                 */
                expected_version: components["parameters"]["ExpectedVersionQuery"];
                /** @description Who is acting, as free text for the op log and the audit log. */
                actor?: components["parameters"]["ActorQuery"];
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description Name of the column, percent-encoded UTF-8.
                 * @example 金額
                 */
                column: components["parameters"]["PathColumn"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What changed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "column": "税率",
                     *       "type": null,
                     *       "edit_version": 45,
                     *       "op_id": 132,
                     *       "stale": [],
                     *       "broken": []
                     *     }
                     */
                    "application/json": components["schemas"]["ColumnChange"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    alterTableColumn: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description Name of the column, percent-encoded UTF-8.
                 * @example 金額
                 */
                column: components["parameters"]["PathColumn"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "expected_version": 43,
                 *       "new_name": "消費税率"
                 *     }
                 */
                "application/json": components["schemas"]["AlterColumnRequest"];
            };
        };
        responses: {
            /** @description The column after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "column": "消費税率",
                     *       "type": "DECIMAL(4,2)",
                     *       "edit_version": 44,
                     *       "op_id": 131,
                     *       "stale": [],
                     *       "broken": [
                     *         "税込売上"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ColumnChange"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    describeTableColumn: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description Name of the column, percent-encoded UTF-8.
                 * @example 金額
                 */
                column: components["parameters"]["PathColumn"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "description": "税抜"
                 *     }
                 */
                "application/json": components["schemas"]["ColumnDescriptionBody"];
            };
        };
        responses: {
            /** @description The description. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "column": "金額",
                     *       "description": "税抜"
                     *     }
                     */
                    "application/json": components["schemas"]["ColumnDescription"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    addColumn: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "column": "税率",
                 *       "type": "DECIMAL(4,2)",
                 *       "default": "0.10",
                 *       "expected_version": 42,
                 *       "actor": "佐藤"
                 *     }
                 */
                "application/json": components["schemas"]["AddColumnRequest"];
            };
        };
        responses: {
            /** @description The column. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "column": "税率",
                     *       "type": "DECIMAL(4,2)",
                     *       "edit_version": 43,
                     *       "op_id": 130,
                     *       "stale": [],
                     *       "broken": []
                     *     }
                     */
                    "application/json": components["schemas"]["ColumnChange"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    dropColumn: {
        parameters: {
            query: {
                /**
                 * @description The `edit_version` the caller last saw, or the literal `null` for "do not check". Leaving it out is 422.
                 * @example 42
                 */
                expected_version: components["parameters"]["ExpectedVersionQuery"];
                /** @description Who is acting, as free text for the op log and the audit log. */
                actor?: components["parameters"]["ActorQuery"];
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description Name of the column, percent-encoded UTF-8.
                 * @example 金額
                 */
                column: components["parameters"]["PathColumn"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What changed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "column": "税率",
                     *       "type": null,
                     *       "edit_version": 45,
                     *       "op_id": 132,
                     *       "stale": [],
                     *       "broken": []
                     *     }
                     */
                    "application/json": components["schemas"]["ColumnChange"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    alterColumn: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description Name of the column, percent-encoded UTF-8.
                 * @example 金額
                 */
                column: components["parameters"]["PathColumn"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "expected_version": 43,
                 *       "new_name": "消費税率"
                 *     }
                 */
                "application/json": components["schemas"]["AlterColumnRequest"];
            };
        };
        responses: {
            /** @description The column after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "column": "消費税率",
                     *       "type": "DECIMAL(4,2)",
                     *       "edit_version": 44,
                     *       "op_id": 131,
                     *       "stale": [],
                     *       "broken": [
                     *         "税込売上"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ColumnChange"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    describeColumn: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description Name of the column, percent-encoded UTF-8.
                 * @example 金額
                 */
                column: components["parameters"]["PathColumn"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "description": "税抜"
                 *     }
                 */
                "application/json": components["schemas"]["ColumnDescriptionBody"];
            };
        };
        responses: {
            /** @description The description. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "column": "金額",
                     *       "description": "税抜"
                     *     }
                     */
                    "application/json": components["schemas"]["ColumnDescription"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    readTableData: {
        parameters: {
            query?: {
                /**
                 * @description Columns to read, repeatable; default all visible ones. A value that is not itself a column's name is split at
                 *     commas. An unknown or denied column is 422.
                 */
                columns?: string[];
                /** @description Read this `edit_version` instead of the current one. One that never was is 404; one that is no longer kept 410. */
                at_version?: number;
                /**
                 * @description Read the table as it was in a named version or a committed snapshot, by label or snapshot id; one that was deleted
                 *     since is among them. Not together with `at_version` (422).
                 */
                at?: string;
                /** @description Format of the answer. It says the same as `Accept`, and wins over it. */
                format?: components["parameters"]["FormatRows"];
            };
            header?: {
                /** @description The `ETag` of an answer that the caller has. If it is still the same, 304 without a body. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    "Content-Disposition": components["headers"]["ContentDisposition"];
                    "X-SVC-Edit-Version": components["headers"]["XSVCEditVersion"];
                    "X-SVC-Row-Count": components["headers"]["XSVCRowCount"];
                    "X-SVC-Masked-Columns": components["headers"]["XSVCMaskedColumns"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "edit_version": 42,
                     *       "columns": [
                     *         {
                     *           "name": "日付",
                     *           "type": "DATE"
                     *         },
                     *         {
                     *           "name": "得意先",
                     *           "type": "VARCHAR"
                     *         },
                     *         {
                     *           "name": "金額",
                     *           "type": "BIGINT"
                     *         }
                     *       ],
                     *       "row_count": 1,
                     *       "next_cursor": null,
                     *       "masked_columns": [
                     *         "得意先"
                     *       ],
                     *       "rows": [
                     *         {
                     *           "日付": "2024-04-01",
                     *           "得意先": null,
                     *           "金額": 120000,
                     *           "__svc_row_id": 1
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RowsPage"];
                    /** @example {"日付":"2024-04-01","得意先":null,"金額":120000,"__svc_row_id":1} */
                    "application/x-ndjson": string;
                    "application/vnd.apache.arrow.stream": string;
                    /**
                     * @example 日付,得意先,金額,__svc_row_id
                     *     2024-04-01,,120000,1
                     */
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    readRows: {
        parameters: {
            query?: {
                /** @description Rows a page, at most. */
                limit?: components["parameters"]["LimitRows"];
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Rows to skip. Not together with `cursor` (422). */
                offset?: number;
                /**
                 * @description Columns to read, repeatable; default all visible ones. A value that is not itself a column's name is split at
                 *     commas. An unknown or denied column is 422.
                 */
                columns?: string[];
                /** @description A SQL boolean expression over the visible columns, parsed and never concatenated. */
                filter?: string;
                /** @description Column to sort by, with `:asc` (default) or `:desc`; repeatable, split at commas like `columns`; default row order. */
                sort?: string[];
                /** @description Read this `edit_version` instead of the current one. One that never was is 404; one that is no longer kept 410. */
                at_version?: number;
                /**
                 * @description Read the table as it was in a named version or a committed snapshot, by label or snapshot id; one that was deleted
                 *     since is among them. Not together with `at_version` (422).
                 */
                at?: string;
                /** @description Format of the answer. It says the same as `Accept`, and wins over it. */
                format?: components["parameters"]["FormatRows"];
            };
            header?: {
                /** @description The `ETag` of an answer that the caller has. If it is still the same, 304 without a body. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rows. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    "X-SVC-Edit-Version": components["headers"]["XSVCEditVersion"];
                    "X-SVC-Row-Count": components["headers"]["XSVCRowCount"];
                    "X-SVC-Next-Cursor": components["headers"]["XSVCNextCursor"];
                    "X-SVC-Masked-Columns": components["headers"]["XSVCMaskedColumns"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "edit_version": 42,
                     *       "columns": [
                     *         {
                     *           "name": "日付",
                     *           "type": "DATE"
                     *         },
                     *         {
                     *           "name": "得意先",
                     *           "type": "VARCHAR"
                     *         },
                     *         {
                     *           "name": "金額",
                     *           "type": "BIGINT"
                     *         }
                     *       ],
                     *       "rows": [
                     *         {
                     *           "日付": "2024-04-01",
                     *           "得意先": null,
                     *           "金額": 120000,
                     *           "__svc_row_id": 1
                     *         }
                     *       ],
                     *       "row_count": 119,
                     *       "next_cursor": "eyJyIjoxfQ",
                     *       "masked_columns": [
                     *         "得意先"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RowsPage"];
                    /** @example {"日付":"2024-04-01","得意先":null,"金額":120000,"__svc_row_id":1} */
                    "application/x-ndjson": string;
                    "application/vnd.apache.arrow.stream": string;
                    /**
                     * @example 日付,得意先,金額,__svc_row_id
                     *     2024-04-01,,120000,1
                     */
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    upsertRows: {
        parameters: {
            query?: {
                /** @description As in the JSON body; only where the body is not JSON, and required there. */
                expected_version?: string;
                /** @description As in the JSON body, repeatable; only where the body is not JSON. */
                key?: string[];
                /** @description As in the JSON body; only where the body is not JSON. */
                rebase?: boolean;
                /** @description As in the JSON body; only where the body is not JSON. */
                actor?: string;
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "expected_version": 42,
                 *       "rows": [
                 *         {
                 *           "__svc_row_id": 1,
                 *           "金額": 125000
                 *         },
                 *         {
                 *           "日付": "2024-04-02",
                 *           "得意先": "山田商店",
                 *           "金額": 30000
                 *         }
                 *       ],
                 *       "actor": "佐藤"
                 *     }
                 */
                "application/json": components["schemas"]["UpsertRowsRequest"];
                /**
                 * @example {"__svc_row_id":1,"金額":125000}
                 *     {"日付":"2024-04-02","得意先":"山田商店","金額":30000}
                 */
                "application/x-ndjson": string;
                "application/vnd.apache.arrow.stream": string;
            };
        };
        responses: {
            /** @description What was written. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "edit_version": 43,
                     *       "op_id": 133,
                     *       "inserted": 1,
                     *       "updated": 1,
                     *       "row_ids": [
                     *         1,
                     *         120
                     *       ],
                     *       "stale": [
                     *         "月次売上"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["UpsertRowsResult"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteRows: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "expected_version": 43,
                 *       "row_ids": [
                 *         120
                 *       ],
                 *       "actor": "佐藤"
                 *     }
                 */
                "application/json": components["schemas"]["DeleteRowsRequest"];
            };
        };
        responses: {
            /** @description What was deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "edit_version": 44,
                     *       "op_id": 134,
                     *       "deleted": 1,
                     *       "stale": [
                     *         "月次売上"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeleteRowsResult"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    readRow: {
        parameters: {
            query?: {
                /** @description Columns to read, as for many rows. */
                columns?: string[];
                /** @description Read this `edit_version` instead of the current one. One that never was is 404; one that is no longer kept 410. */
                at_version?: number;
                /** @description Read the row as it was in a named version or a committed snapshot. Not together with `at_version` (422). */
                at?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description The row's `__svc_row_id`.
                 * @example 7
                 */
                row_id: components["parameters"]["PathRowId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The row. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "row_id": 1,
                     *       "edit_version": 42,
                     *       "row": {
                     *         "日付": "2024-04-01",
                     *         "得意先": null,
                     *         "金額": 120000,
                     *         "__svc_row_id": 1
                     *       },
                     *       "masked_columns": [
                     *         "得意先"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RowRead"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteRow: {
        parameters: {
            query: {
                /**
                 * @description The `edit_version` the caller last saw, or the literal `null` for "do not check". Leaving it out is 422.
                 * @example 42
                 */
                expected_version: components["parameters"]["ExpectedVersionQuery"];
                /** @description On a version mismatch, delete when the row did not change. */
                rebase?: boolean;
                /** @description Who is acting, as free text for the op log and the audit log. */
                actor?: components["parameters"]["ActorQuery"];
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description The row's `__svc_row_id`.
                 * @example 7
                 */
                row_id: components["parameters"]["PathRowId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "edit_version": 44,
                     *       "op_id": 134,
                     *       "deleted": 1,
                     *       "stale": [
                     *         "月次売上"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeleteRowsResult"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateRow: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description The row's `__svc_row_id`.
                 * @example 7
                 */
                row_id: components["parameters"]["PathRowId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "expected_version": 42,
                 *       "row": {
                 *         "金額": 125000
                 *       },
                 *       "actor": "佐藤"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateRowRequest"];
            };
        };
        responses: {
            /** @description What was written. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "edit_version": 43,
                     *       "op_id": 133,
                     *       "inserted": 0,
                     *       "updated": 1,
                     *       "row_ids": [
                     *         1
                     *       ],
                     *       "stale": [
                     *         "月次売上"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["UpsertRowsResult"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRowLineage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description The row's `__svc_row_id`.
                 * @example 7
                 */
                row_id: components["parameters"]["PathRowId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The origin. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "損益計算書_階層1",
                     *       "row_id": 1,
                     *       "cells": [
                     *         {
                     *           "source": "損益.xlsx",
                     *           "sheet": "PL",
                     *           "range": "A4",
                     *           "columns": [
                     *             "科目"
                     *           ]
                     *         },
                     *         {
                     *           "source": "損益.xlsx",
                     *           "sheet": "PL",
                     *           "range": "B4",
                     *           "columns": [
                     *             "値"
                     *           ]
                     *         }
                     *       ],
                     *       "inputs": [],
                     *       "truncated": false
                     *     }
                     */
                    "application/json": components["schemas"]["RowLineage"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRowHistory: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit100"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description The row's `__svc_row_id`.
                 * @example 7
                 */
                row_id: components["parameters"]["PathRowId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "row_id": 1,
                     *       "changes": [
                     *         {
                     *           "op_id": 133,
                     *           "edit_version": 43,
                     *           "kind": "update",
                     *           "actor": "佐藤",
                     *           "user_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "at": "2025-06-14T03:10:00Z",
                     *           "cells": [
                     *             {
                     *               "column": "金額",
                     *               "old": 120000,
                     *               "new": 125000
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["RowHistory"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    diffTable: {
        parameters: {
            query: {
                /**
                 * @description Left side: an edit version, a snapshot id or a version label.
                 * @example 40
                 */
                from: string;
                /** @description Right side, likewise; default the current version. */
                to?: string;
                /** @description Changes listed, at most; beyond it `truncated` is true. */
                limit?: components["parameters"]["LimitChanges"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The differences. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "from": 42,
                     *       "to": 43,
                     *       "inserted": [
                     *         {
                     *           "日付": "2024-04-02",
                     *           "得意先": null,
                     *           "金額": 30000,
                     *           "__svc_row_id": 120
                     *         }
                     *       ],
                     *       "updated": [
                     *         {
                     *           "row_id": 1,
                     *           "cells": [
                     *             {
                     *               "column": "金額",
                     *               "old": 120000,
                     *               "new": 125000
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "deleted": [],
                     *       "inserted_count": 1,
                     *       "updated_count": 1,
                     *       "deleted_count": 0,
                     *       "truncated": false
                     *     }
                     */
                    "application/json": components["schemas"]["TableDiff"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    readRange: {
        parameters: {
            query: {
                /**
                 * @description A1 range or cell, e.g. `B2:D10`.
                 * @example A1:C3
                 */
                range: components["schemas"]["A1Range"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cells. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "range": "A1:C2",
                     *       "values": [
                     *         [
                     *           "日付",
                     *           "得意先",
                     *           "金額"
                     *         ],
                     *         [
                     *           "2024-04-01",
                     *           null,
                     *           120000
                     *         ]
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["A1Response"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    writeRange: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "range": "C2:C3",
                 *       "values": [
                 *         [
                 *           125000
                 *         ],
                 *         [
                 *           null
                 *         ]
                 *       ],
                 *       "expected_version": 42,
                 *       "actor": "佐藤"
                 *     }
                 */
                "application/json": components["schemas"]["A1WriteRequest"];
            };
        };
        responses: {
            /** @description The cells after the write. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "range": "C2:C3",
                     *       "values": [
                     *         [
                     *           125000
                     *         ],
                     *         [
                     *           30000
                     *         ]
                     *       ],
                     *       "edit_version": 43,
                     *       "op_id": 135,
                     *       "stale": [
                     *         "月次売上"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["A1WriteResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAnnotations: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit500"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The annotations. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "annotations": [
                     *         {
                     *           "target": {
                     *             "row_id": 1,
                     *             "column": "金額"
                     *           },
                     *           "style": {
                     *             "bold": true,
                     *             "background": "#FFF2CC"
                     *           },
                     *           "note": "要確認",
                     *           "actor": "佐藤",
                     *           "updated_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AnnotationList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    annotateTable: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "annotations": [
                 *         {
                 *           "target": {
                 *             "row_id": 1,
                 *             "column": "金額"
                 *           },
                 *           "style": {
                 *             "bold": true,
                 *             "background": "#FFF2CC"
                 *           },
                 *           "note": "要確認"
                 *         }
                 *       ],
                 *       "actor": "佐藤"
                 *     }
                 */
                "application/json": components["schemas"]["AnnotateRequest"];
            };
        };
        responses: {
            /** @description The annotations. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "annotations": [
                     *         {
                     *           "target": {
                     *             "row_id": 1,
                     *             "column": "金額"
                     *           },
                     *           "style": {
                     *             "bold": true,
                     *             "background": "#FFF2CC"
                     *           },
                     *           "note": "要確認",
                     *           "actor": "佐藤",
                     *           "updated_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AnnotateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAnnotations: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "targets": [
                 *         {
                 *           "row_id": 1,
                 *           "column": "金額"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["DeleteAnnotationsRequest"];
            };
        };
        responses: {
            /** @description How many went. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": 1
                     *     }
                     */
                    "application/json": components["schemas"]["DeleteAnnotationsResult"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    runQuery: {
        parameters: {
            query?: {
                /** @description Format of the answer. It says the same as `Accept`, and wins over it. */
                format?: components["parameters"]["FormatRows"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "sql": "SELECT strftime(日付, '%Y-%m') AS 月, sum(金額) AS 売上 FROM 売上明細 WHERE 金額 >= $1 GROUP BY 1 ORDER BY 1",
                 *       "params": [
                 *         1000
                 *       ],
                 *       "limit": 2
                 *     }
                 */
                "application/json": components["schemas"]["QueryRequest"];
            };
        };
        responses: {
            /** @description The manifest and the first page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-SVC-Result-Id": components["headers"]["XSVCResultId"];
                    "X-SVC-Row-Count": components["headers"]["XSVCRowCount"];
                    "X-SVC-Masked-Columns": components["headers"]["XSVCMaskedColumns"];
                    "X-SVC-Result-Cache": components["headers"]["XSVCResultCache"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "res_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "columns": [
                     *         {
                     *           "name": "月",
                     *           "type": "VARCHAR"
                     *         },
                     *         {
                     *           "name": "売上",
                     *           "type": "BIGINT"
                     *         }
                     *       ],
                     *       "rows": [
                     *         {
                     *           "月": "2024-04",
                     *           "売上": 1240000
                     *         },
                     *         {
                     *           "月": "2024-05",
                     *           "売上": 1310000
                     *         }
                     *       ],
                     *       "row_count": 12,
                     *       "next_offset": 2,
                     *       "masked_columns": [],
                     *       "tables": [
                     *         {
                     *           "name": "売上明細",
                     *           "edit_version": 42
                     *         }
                     *       ],
                     *       "expires_at": "2025-06-15T02:30:00Z",
                     *       "elapsed_ms": 14
                     *     }
                     */
                    "application/json": components["schemas"]["QueryResult"];
                    /**
                     * @example {"月":"2024-04","売上":1240000}
                     *     {"月":"2024-05","売上":1310000}
                     */
                    "application/x-ndjson": string;
                    "application/vnd.apache.arrow.stream": string;
                    /**
                     * @example 月,売上
                     *     2024-04,1240000
                     */
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    validateQuery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "sql": "SELECT 金額 FROM 売上明細"
                 *     }
                 */
                "application/json": components["schemas"]["ValidateRequest"];
            };
        };
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "valid": true,
                     *       "errors": [],
                     *       "columns": [
                     *         {
                     *           "name": "金額",
                     *           "type": "BIGINT"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ValidateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getResult: {
        parameters: {
            query?: {
                /** @description Rows a page, at most. */
                limit?: components["parameters"]["LimitResult"];
                /** @description Rows to skip. */
                offset?: components["parameters"]["Offset"];
                /** @description Format of the answer. It says the same as `Accept`, and wins over it. */
                format?: components["parameters"]["FormatRows"];
            };
            header?: {
                /** @description The `ETag` of an answer that the caller has. If it is still the same, 304 without a body. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Id of the result.
                 * @example res_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                result_id: components["parameters"]["PathResultId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "X-SVC-Result-Id": components["headers"]["XSVCResultId"];
                    "X-SVC-Row-Count": components["headers"]["XSVCRowCount"];
                    "X-SVC-Masked-Columns": components["headers"]["XSVCMaskedColumns"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "res_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "columns": [
                     *         {
                     *           "name": "月",
                     *           "type": "VARCHAR"
                     *         },
                     *         {
                     *           "name": "売上",
                     *           "type": "BIGINT"
                     *         }
                     *       ],
                     *       "rows": [
                     *         {
                     *           "月": "2024-04",
                     *           "売上": 1240000
                     *         },
                     *         {
                     *           "月": "2024-05",
                     *           "売上": 1310000
                     *         }
                     *       ],
                     *       "row_count": 12,
                     *       "next_offset": 2,
                     *       "masked_columns": [],
                     *       "tables": [
                     *         {
                     *           "name": "売上明細",
                     *           "edit_version": 42
                     *         }
                     *       ],
                     *       "expires_at": "2025-06-15T02:30:00Z",
                     *       "elapsed_ms": 14
                     *     }
                     */
                    "application/json": components["schemas"]["QueryResult"];
                    /**
                     * @example {"月":"2024-04","売上":1240000}
                     *     {"月":"2024-05","売上":1310000}
                     */
                    "application/x-ndjson": string;
                    "application/vnd.apache.arrow.stream": string;
                    /**
                     * @example 月,売上
                     *     2024-04,1240000
                     */
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            406: components["responses"]["NotAcceptable"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    searchArtifacts: {
        parameters: {
            query?: {
                /** @description What to look for. Empty or blank gives an empty list. */
                q?: string;
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit20"];
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The hits. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "name": "売上明細",
                     *           "type": "table",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "workbook_title": "2024年度 決算",
                     *           "description": "受注ごとの売上",
                     *           "source": "売上.xlsx",
                     *           "matched": [
                     *             "name",
                     *             "description"
                     *           ],
                     *           "columns": [],
                     *           "score": 2.4
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SearchResults"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTransforms: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit100"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transforms. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "transforms": [
                     *         {
                     *           "name": "月次集計",
                     *           "language": "sql",
                     *           "template": "SELECT strftime(日付, '%Y-%m') AS 月, sum(金額) AS 売上 FROM {{ detail }} GROUP BY 1",
                     *           "args": {
                     *             "detail": "売上明細"
                     *           },
                     *           "output": "月次売上",
                     *           "key": [
                     *             "月"
                     *           ],
                     *           "materialize": "table",
                     *           "revision": 1,
                     *           "freshness": {
                     *             "stale": false,
                     *             "stale_since": null
                     *           },
                     *           "last_run_at": "2025-06-14T02:30:00Z",
                     *           "last_error": null,
                     *           "created_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["TransformList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    createTransform: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "月次集計",
                 *       "language": "sql",
                 *       "template": "SELECT strftime(日付, '%Y-%m') AS 月, sum(金額) AS 売上 FROM {{ detail }} GROUP BY 1",
                 *       "args": {
                 *         "detail": "売上明細"
                 *       },
                 *       "output": "月次売上",
                 *       "key": [
                 *         "月"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TransformRequest"];
            };
        };
        responses: {
            /** @description Replaced, and run if asked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "transform": {
                     *         "name": "月次集計",
                     *         "language": "sql",
                     *         "template": "SELECT strftime(日付, '%Y-%m') AS 月, sum(金額) AS 売上 FROM {{ detail }} GROUP BY 1",
                     *         "args": {
                     *           "detail": "売上明細"
                     *         },
                     *         "output": "月次売上",
                     *         "key": [
                     *           "月"
                     *         ],
                     *         "materialize": "table",
                     *         "revision": 2,
                     *         "freshness": {
                     *           "stale": false,
                     *           "stale_since": null
                     *         },
                     *         "last_run_at": "2025-06-14T02:30:00Z",
                     *         "last_error": null,
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "output": {
                     *         "name": "月次売上",
                     *         "edit_version": 3,
                     *         "row_count": 12
                     *       },
                     *       "op_id": 136,
                     *       "recomputed": [],
                     *       "failed": [],
                     *       "conflicts": []
                     *     }
                     */
                    "application/json": components["schemas"]["TransformResult"];
                };
            };
            /** @description Created, and run if asked. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "transform": {
                     *         "name": "月次集計",
                     *         "language": "sql",
                     *         "template": "SELECT strftime(日付, '%Y-%m') AS 月, sum(金額) AS 売上 FROM {{ detail }} GROUP BY 1",
                     *         "args": {
                     *           "detail": "売上明細"
                     *         },
                     *         "output": "月次売上",
                     *         "key": [
                     *           "月"
                     *         ],
                     *         "materialize": "table",
                     *         "revision": 1,
                     *         "freshness": {
                     *           "stale": false,
                     *           "stale_since": null
                     *         },
                     *         "last_run_at": "2025-06-14T02:30:00Z",
                     *         "last_error": null,
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "output": {
                     *         "name": "月次売上",
                     *         "edit_version": 3,
                     *         "row_count": 12
                     *       },
                     *       "op_id": 136,
                     *       "recomputed": [],
                     *       "failed": [],
                     *       "conflicts": []
                     *     }
                     */
                    "application/json": components["schemas"]["TransformResult"];
                };
            };
            /** @description The work goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            501: components["responses"]["NotConfigured"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTransform: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transform. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "月次集計",
                     *       "language": "sql",
                     *       "template": "SELECT strftime(日付, '%Y-%m') AS 月, sum(金額) AS 売上 FROM {{ detail }} GROUP BY 1",
                     *       "args": {
                     *         "detail": "売上明細"
                     *       },
                     *       "output": "月次売上",
                     *       "key": [
                     *         "月"
                     *       ],
                     *       "materialize": "table",
                     *       "revision": 1,
                     *       "freshness": {
                     *         "stale": false,
                     *         "stale_since": null
                     *       },
                     *       "last_run_at": "2025-06-14T02:30:00Z",
                     *       "last_error": null,
                     *       "created_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Transform"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteTransform: {
        parameters: {
            query: {
                /**
                 * @description The `edit_version` the caller last saw, or the literal `null` for "do not check". Leaving it out is 422.
                 * @example 42
                 */
                expected_version: components["parameters"]["ExpectedVersionQuery"];
                /** @description Who is acting, as free text for the op log and the audit log. */
                actor?: components["parameters"]["ActorQuery"];
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description The `ETag` of a reading of the table, or its version in quotes (`"42"`). It counts as `expected_version` where that is
                 *     left out, and `*` as `null`; both that differ are 422, and so is a weak tag.
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transform and its output are deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    runTransform: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "actor": "佐藤"
                 *     }
                 */
                "application/json": components["schemas"]["RunTransformRequest"];
            };
        };
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "transform": {
                     *         "name": "月次集計",
                     *         "language": "sql",
                     *         "template": "SELECT strftime(日付, '%Y-%m') AS 月, sum(金額) AS 売上 FROM {{ detail }} GROUP BY 1",
                     *         "args": {
                     *           "detail": "売上明細"
                     *         },
                     *         "output": "月次売上",
                     *         "key": [
                     *           "月"
                     *         ],
                     *         "materialize": "table",
                     *         "revision": 1,
                     *         "freshness": {
                     *           "stale": false,
                     *           "stale_since": null
                     *         },
                     *         "last_run_at": "2025-06-14T02:30:00Z",
                     *         "last_error": null,
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "output": {
                     *         "name": "月次売上",
                     *         "edit_version": 3,
                     *         "row_count": 12
                     *       },
                     *       "op_id": 136,
                     *       "recomputed": [],
                     *       "failed": [],
                     *       "conflicts": []
                     *     }
                     */
                    "application/json": components["schemas"]["TransformResult"];
                };
            };
            /** @description The work goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            501: components["responses"]["NotConfigured"];
            503: components["responses"]["Unavailable"];
        };
    };
    recomputeWorkbook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "recomputed": [
                     *         {
                     *           "name": "月次売上",
                     *           "edit_version": 4,
                     *           "row_count": 12
                     *         }
                     *       ],
                     *       "skipped_reports": [
                     *         "品質レポート"
                     *       ],
                     *       "failed": [],
                     *       "conflicts": []
                     *     }
                     */
                    "application/json": components["schemas"]["RecomputeResponse"];
                };
            };
            /** @description It takes longer and goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSheets: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit100"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sheets. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sheets": [
                     *         {
                     *           "name": "決算報告",
                     *           "title": "2024年度 決算報告",
                     *           "tables": [
                     *             "損益計算書_階層1"
                     *           ],
                     *           "updated_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SheetList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSheet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sheet. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "決算報告",
                     *       "title": "2024年度 決算報告",
                     *       "spec": {
                     *         "blocks": [
                     *           {
                     *             "kind": "heading",
                     *             "text": "損益計算書",
                     *             "level": 1
                     *           },
                     *           {
                     *             "kind": "text",
                     *             "text": "(単位：千円)"
                     *           },
                     *           {
                     *             "kind": "table_view",
                     *             "table": "損益計算書_階層1",
                     *             "columns": [
                     *               "科目",
                     *               "期間",
                     *               "値"
                     *             ]
                     *           },
                     *           {
                     *             "kind": "spacer",
                     *             "rows": 2
                     *           }
                     *         ]
                     *       },
                     *       "tables": [
                     *         "損益計算書_階層1"
                     *       ],
                     *       "missing_tables": [],
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "updated_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Sheet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    putSheet: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "2024年度 決算報告",
                 *       "spec": {
                 *         "blocks": [
                 *           {
                 *             "kind": "heading",
                 *             "text": "損益計算書",
                 *             "level": 1
                 *           },
                 *           {
                 *             "kind": "text",
                 *             "text": "(単位：千円)"
                 *           },
                 *           {
                 *             "kind": "table_view",
                 *             "table": "損益計算書_階層1",
                 *             "columns": [
                 *               "科目",
                 *               "期間",
                 *               "値"
                 *             ]
                 *           },
                 *           {
                 *             "kind": "spacer",
                 *             "rows": 2
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["PutSheetRequest"];
            };
        };
        responses: {
            /** @description Replaced. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "決算報告",
                     *       "title": "2024年度 決算報告",
                     *       "spec": {
                     *         "blocks": [
                     *           {
                     *             "kind": "heading",
                     *             "text": "損益計算書",
                     *             "level": 1
                     *           },
                     *           {
                     *             "kind": "text",
                     *             "text": "(単位：千円)"
                     *           },
                     *           {
                     *             "kind": "table_view",
                     *             "table": "損益計算書_階層1",
                     *             "columns": [
                     *               "科目",
                     *               "期間",
                     *               "値"
                     *             ]
                     *           },
                     *           {
                     *             "kind": "spacer",
                     *             "rows": 2
                     *           }
                     *         ]
                     *       },
                     *       "tables": [
                     *         "損益計算書_階層1"
                     *       ],
                     *       "missing_tables": [],
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "updated_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Sheet"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "決算報告",
                     *       "title": "2024年度 決算報告",
                     *       "spec": {
                     *         "blocks": [
                     *           {
                     *             "kind": "heading",
                     *             "text": "損益計算書",
                     *             "level": 1
                     *           },
                     *           {
                     *             "kind": "text",
                     *             "text": "(単位：千円)"
                     *           },
                     *           {
                     *             "kind": "table_view",
                     *             "table": "損益計算書_階層1",
                     *             "columns": [
                     *               "科目",
                     *               "期間",
                     *               "値"
                     *             ]
                     *           },
                     *           {
                     *             "kind": "spacer",
                     *             "rows": 2
                     *           }
                     *         ]
                     *       },
                     *       "tables": [
                     *         "損益計算書_階層1"
                     *       ],
                     *       "missing_tables": [],
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "updated_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Sheet"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteSheet: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sheet is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    renderSheet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Content-Disposition": components["headers"]["ContentDisposition"];
                    "X-SVC-Masked-Columns": components["headers"]["XSVCMaskedColumns"];
                    "X-SVC-Denied-Columns": components["headers"]["XSVCDeniedColumns"];
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCharts: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit100"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The charts. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "charts": [
                     *         {
                     *           "name": "月次売上グラフ",
                     *           "artifact_id": "cht_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "chart_type": "bar",
                     *           "source_table": "月次売上",
                     *           "title": "月次売上",
                     *           "config": {
                     *             "mark": "bar",
                     *             "encoding": {
                     *               "x": {
                     *                 "field": "月"
                     *               },
                     *               "y": {
                     *                 "field": "売上"
                     *               }
                     *             }
                     *           },
                     *           "recipe": {
                     *             "tool": "create_chart",
                     *             "table": "月次売上"
                     *           },
                     *           "config_omitted": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ChartListResponse"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    renderChart: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The picture. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <svg xmlns="http://www.w3.org/2000/svg" width="400" height="240"></svg> */
                    "image/svg+xml": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    renderChartPng: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The picture. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    exportTables: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "tables": [
                 *         "売上明細"
                 *       ],
                 *       "format": "xlsx",
                 *       "include_row_ids": true,
                 *       "record_branch": true,
                 *       "filename": "売上明細.xlsx"
                 *     }
                 */
                "application/json": components["schemas"]["ExportRequest"];
            };
        };
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    "Content-Disposition": components["headers"]["ContentDisposition"];
                    "X-SVC-Preserved-Formulas": components["headers"]["XSVCPreservedFormulas"];
                    "X-SVC-Masked-Columns": components["headers"]["XSVCMaskedColumns"];
                    "X-SVC-Denied-Columns": components["headers"]["XSVCDeniedColumns"];
                    "X-SVC-Branch-Id": components["headers"]["XSVCBranchId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                    /**
                     * @example 日付,得意先,金額
                     *     2024-04-01,,120000
                     */
                    "text/csv": string;
                    "application/vnd.apache.parquet": string;
                    /** @example {"日付":"2024-04-01","得意先":null,"金額":120000} */
                    "application/x-ndjson": string;
                    "application/zip": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listBranches: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit200"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The branch points. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "branches": [
                     *         {
                     *           "id": "brn_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "table": "売上明細",
                     *           "base_version": 42,
                     *           "row_count": 119,
                     *           "format": "xlsx",
                     *           "filename": "売上明細.xlsx",
                     *           "actor": "佐藤",
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "last_merged_at": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["BranchList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    mergeTable: {
        parameters: {
            query?: {
                /** @description Answer what would happen, in `planned_changes` and `planned_conflicts`, too, and change nothing. */
                dry_run?: boolean;
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        /** @description The edited file and its branch. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "(bytes of 売上明細.xlsx)",
                 *       "branch_id": "brn_01JXQ2V7M0Z8K4T5R6W9A1B201",
                 *       "actor": "佐藤"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["MergeForm"];
            };
        };
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "edit_version": 45,
                     *       "op_id": 140,
                     *       "inserted": 2,
                     *       "updated": 5,
                     *       "deleted": 0,
                     *       "conflicts": [
                     *         "cfl_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *       ],
                     *       "unchanged": 112
                     *     }
                     */
                    "application/json": components["schemas"]["MergeResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    syncFile: {
        parameters: {
            query?: {
                /** @description Answer what would happen, in `planned_changes` and `planned_conflicts`, too, and change nothing. */
                dry_run?: boolean;
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        /** @description The returned file. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "(bytes of 売上明細.xlsx)",
                 *       "actor": "佐藤"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["SyncForm"];
            };
        };
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "branch_id": "brn_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "tables": [
                     *         {
                     *           "name": "売上明細",
                     *           "edit_version": 45,
                     *           "op_id": 140,
                     *           "inserted": 2,
                     *           "updated": 5,
                     *           "deleted": 0,
                     *           "conflicts": [
                     *             "cfl_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *           ],
                     *           "unchanged": 112
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SyncResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listConflicts: {
        parameters: {
            query?: {
                /** @description Only conflicts with this status. */
                status?: components["schemas"]["ConflictStatus"];
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit200"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The conflicts. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "conflicts": [
                     *         {
                     *           "id": "cfl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "table": "売上明細",
                     *           "row_id": 7,
                     *           "column": "金額",
                     *           "kind": "overwrite",
                     *           "status": "open",
                     *           "base": 120000,
                     *           "prior": 125000,
                     *           "current": 118000,
                     *           "branch_id": "brn_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "resolved_at": null,
                     *           "resolved_by": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ConflictList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    resolveConflict: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Id of the conflict.
                 * @example cfl_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                conflict_id: components["parameters"]["PathConflictId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "revert",
                 *       "actor": "佐藤"
                 *     }
                 */
                "application/json": components["schemas"]["ResolveConflictRequest"];
            };
        };
        responses: {
            /** @description The closed conflict. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "cfl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "table": "売上明細",
                     *       "row_id": 7,
                     *       "column": "金額",
                     *       "kind": "overwrite",
                     *       "status": "reverted",
                     *       "base": 120000,
                     *       "prior": 125000,
                     *       "current": 125000,
                     *       "branch_id": "brn_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "resolved_at": "2025-06-14T03:20:00Z",
                     *       "resolved_by": "佐藤",
                     *       "edit_version": 46,
                     *       "op_id": 141,
                     *       "stale": [
                     *         "月次売上"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ResolvedConflict"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSyncBindings: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The mappings. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sync_bindings": [
                     *         {
                     *           "id": "bnd_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "table": "売上明細",
                     *           "actor": "佐藤",
                     *           "external_kind": "google_sheets",
                     *           "external_ref": "1A2b3C4d5E",
                     *           "direction": "push",
                     *           "ownership_map": null,
                     *           "warnings": [
                     *             "得意先 is masked for some roles and would leave the service unmasked or blank."
                     *           ],
                     *           "created_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SyncBindingList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    bindSheet: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "actor": "佐藤",
                 *       "external_kind": "google_sheets",
                 *       "external_ref": "1A2b3C4d5E",
                 *       "direction": "push"
                 *     }
                 */
                "application/json": components["schemas"]["BindRequest"];
            };
        };
        responses: {
            /** @description The mapping. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "bnd_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "table": "売上明細",
                     *       "actor": "佐藤",
                     *       "external_kind": "google_sheets",
                     *       "external_ref": "1A2b3C4d5E",
                     *       "direction": "push",
                     *       "ownership_map": null,
                     *       "warnings": [
                     *         "得意先 is masked for some roles and would leave the service unmasked or blank."
                     *       ],
                     *       "created_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SyncBinding"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSnapshots: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The snapshots. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "snapshots": [
                     *         {
                     *           "id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "state": "committed",
                     *           "summary": "四半期締め",
                     *           "event_type": "transform",
                     *           "tables": [
                     *             {
                     *               "name": "売上明細",
                     *               "edit_version": 42
                     *             }
                     *           ],
                     *           "versions": [
                     *             "2024年度確定"
                     *           ],
                     *           "user_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "committed_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SnapshotList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    commitSnapshot: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "summary": "四半期締め"
                 *     }
                 */
                "application/json": components["schemas"]["CommitSnapshotRequest"];
            };
        };
        responses: {
            /** @description The snapshot. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "state": "committed",
                     *       "summary": "四半期締め",
                     *       "event_type": "transform",
                     *       "tables": [
                     *         {
                     *           "name": "売上明細",
                     *           "edit_version": 42
                     *         }
                     *       ],
                     *       "versions": [],
                     *       "user_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "committed_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    restoreSnapshot: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Id of the snapshot.
                 * @example snp_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                snapshot_id: components["parameters"]["PathSnapshotId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *       "restored": [
                     *         {
                     *           "name": "売上明細",
                     *           "edit_version": 91,
                     *           "row_count": 119
                     *         }
                     *       ],
                     *       "recomputed": [
                     *         {
                     *           "name": "月次売上",
                     *           "edit_version": 9,
                     *           "row_count": 12
                     *         }
                     *       ],
                     *       "archived": [
                     *         "下書き"
                     *       ],
                     *       "failed": []
                     *     }
                     */
                    "application/json": components["schemas"]["RestoreResponse"];
                };
            };
            /** @description The work goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listVersions: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The versions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "versions": [
                     *         {
                     *           "label": "2024年度確定",
                     *           "summary": "監査後",
                     *           "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "tables": [
                     *             {
                     *               "name": "売上明細",
                     *               "edit_version": 42
                     *             }
                     *           ],
                     *           "user_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "created_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["VersionList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    createVersion: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "label": "2024年度確定",
                 *       "summary": "監査後"
                 *     }
                 */
                "application/json": components["schemas"]["CreateVersionRequest"];
            };
        };
        responses: {
            /** @description The version. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "label": "2024年度確定",
                     *       "summary": "監査後",
                     *       "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "tables": [
                     *         {
                     *           "name": "売上明細",
                     *           "edit_version": 42
                     *         }
                     *       ],
                     *       "user_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "created_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Version"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description The version's label, percent-encoded UTF-8.
                 * @example 2024年度確定
                 */
                label: components["parameters"]["PathLabel"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The version. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "label": "2024年度確定",
                     *       "summary": "監査後",
                     *       "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "tables": [
                     *         {
                     *           "name": "売上明細",
                     *           "edit_version": 42
                     *         }
                     *       ],
                     *       "user_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "created_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Version"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    revertVersion: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description The version's label, percent-encoded UTF-8.
                 * @example 2024年度確定
                 */
                label: components["parameters"]["PathLabel"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B202",
                     *       "restored": [
                     *         {
                     *           "name": "売上明細",
                     *           "edit_version": 91,
                     *           "row_count": 119
                     *         }
                     *       ],
                     *       "recomputed": [
                     *         {
                     *           "name": "月次売上",
                     *           "edit_version": 9,
                     *           "row_count": 12
                     *         }
                     *       ],
                     *       "archived": [
                     *         "下書き"
                     *       ],
                     *       "failed": []
                     *     }
                     */
                    "application/json": components["schemas"]["RestoreResponse"];
                };
            };
            /** @description The work goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listOps: {
        parameters: {
            query?: {
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
                /** @description Only ops with a lower `op_id`. */
                before?: number;
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The ops. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ops": [
                     *         {
                     *           "op_id": 133,
                     *           "kind": "rows.upsert",
                     *           "table": "売上明細",
                     *           "edit_version": 43,
                     *           "actor": "佐藤",
                     *           "user_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "credential": {
                     *             "kind": "access_token",
                     *             "id": "tok_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *           },
                     *           "code_ref": null,
                     *           "undoable": true,
                     *           "undone_by": null,
                     *           "created_at": "2025-06-14T03:10:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["OpList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    undoOp: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Number of the op in its workbook.
                 * @example 128
                 */
                op_id: components["parameters"]["PathOpId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "op_id": 142,
                     *       "undone_op_id": 133,
                     *       "table": "売上明細",
                     *       "edit_version": 47,
                     *       "stale": [
                     *         "月次売上"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["UndoResponse"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit200"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "entries": [
                     *         {
                     *           "seq": 981,
                     *           "at": "2025-06-14T02:30:00Z",
                     *           "actor": "佐藤",
                     *           "user_id": "usr_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "credential": {
                     *             "kind": "session",
                     *             "id": "ses_01JXQ2V7M0"
                     *           },
                     *           "action": "policy.set",
                     *           "target": "pii",
                     *           "detail": {
                     *             "role": "*",
                     *             "effect": "mask"
                     *           },
                     *           "request_id": "req_01JXQ2V7M0Z8K4T5R6W9A1B2C3",
                     *           "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                     *         }
                     *       ],
                     *       "chain_valid": true,
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AuditLog"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    reviewWorkbook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "target": "損益計算書_階層1",
                 *       "mode": "lint"
                 *     }
                 */
                "application/json": components["schemas"]["ReviewRequest"];
            };
        };
        responses: {
            /** @description The findings. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "mode": "lint",
                     *       "target": "損益計算書_階層1",
                     *       "findings": [
                     *         {
                     *           "id": "f1",
                     *           "rule": "total-mismatch",
                     *           "severity": "error",
                     *           "table": "損益計算書_階層1",
                     *           "message": "売上高 1,200 ≠ 製品売上 800 + 商品売上 390",
                     *           "evidence": [
                     *             {
                     *               "row_id": 1,
                     *               "column": "値",
                     *               "cell": "B4",
                     *               "value": 1200
                     *             }
                     *           ],
                     *           "suggested_fix": "内訳を確認してください"
                     *         }
                     *       ],
                     *       "coverage": {
                     *         "tables": [
                     *           "損益計算書_階層1"
                     *         ],
                     *         "rules": [
                     *           "total-mismatch",
                     *           "duplicate-rows"
                     *         ],
                     *         "rows_checked": 4,
                     *         "skipped": [],
                     *         "statement": "1 table, 4 rows, 2 rules."
                     *       },
                     *       "judged": false,
                     *       "report": null,
                     *       "credits_charged": 0,
                     *       "created_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Review"];
                };
            };
            /** @description The review goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            402: components["responses"]["OutOfCredits"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    tagColumn: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description Name of the column, percent-encoded UTF-8.
                 * @example 金額
                 */
                column: components["parameters"]["PathColumn"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "tag": "pii",
                 *       "actor": "佐藤"
                 *     }
                 */
                "application/json": components["schemas"]["TagColumnRequest"];
            };
        };
        responses: {
            /** @description The tags of the column. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "column": "得意先",
                     *       "tags": [
                     *         "pii"
                     *       ],
                     *       "reached": [
                     *         {
                     *           "table": "顧客別売上",
                     *           "column": "得意先"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ColumnTags"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    untagColumn: {
        parameters: {
            query?: {
                /** @description Who is acting, as free text for the op log and the audit log. */
                actor?: components["parameters"]["ActorQuery"];
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description Name of the column, percent-encoded UTF-8.
                 * @example 金額
                 */
                column: components["parameters"]["PathColumn"];
                /**
                 * @description The tag, percent-encoded UTF-8.
                 * @example pii
                 */
                tag: components["parameters"]["PathTag"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tag is off. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listClassifications: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit500"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tags. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "classifications": [
                     *         {
                     *           "table": "売上明細",
                     *           "column": "得意先",
                     *           "tag": "pii",
                     *           "origin": "direct",
                     *           "inherited_from": null,
                     *           "actor": "佐藤",
                     *           "created_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ClassificationList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPolicies: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit500"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rules. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "policies": [
                     *         {
                     *           "tag": "pii",
                     *           "role": "*",
                     *           "effect": "mask",
                     *           "actor": "佐藤",
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "updated_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["PolicyList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    setPolicy: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description The tag, percent-encoded UTF-8.
                 * @example pii
                 */
                tag: components["parameters"]["PathTag"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "*",
                 *       "effect": "mask",
                 *       "actor": "佐藤"
                 *     }
                 */
                "application/json": components["schemas"]["SetPolicyRequest"];
            };
        };
        responses: {
            /** @description The rule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "tag": "pii",
                     *       "role": "*",
                     *       "effect": "mask",
                     *       "actor": "佐藤",
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "updated_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Policy"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deletePolicy: {
        parameters: {
            query?: {
                /** @description Who is acting, as free text for the op log and the audit log. */
                actor?: components["parameters"]["ActorQuery"];
                /** @description Remove only this role's rule; without it the tag stops being governed. */
                role?: string;
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description The tag, percent-encoded UTF-8.
                 * @example pii
                 */
                tag: components["parameters"]["PathTag"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rules are removed. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    previewAccess: {
        parameters: {
            query?: {
                /** @description Role to assume, repeatable. Default: the caller's own roles. Not together with `user_id` (422). */
                role?: string[];
                /** @description Member to assume; an unknown one is 404. */
                user_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The effects. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "売上明細",
                     *       "roles": [
                     *         "viewer"
                     *       ],
                     *       "user_id": null,
                     *       "columns": [
                     *         {
                     *           "column": "得意先",
                     *           "effect": "mask",
                     *           "tags": [
                     *             "pii"
                     *           ],
                     *           "rule": {
                     *             "tag": "pii",
                     *             "role": "*",
                     *             "effect": "mask"
                     *           }
                     *         },
                     *         {
                     *           "column": "金額",
                     *           "effect": "visible",
                     *           "tags": [],
                     *           "rule": null
                     *         }
                     *       ],
                     *       "denied_count": 0
                     *     }
                     */
                    "application/json": components["schemas"]["TableAccess"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFileLinks: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The links. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "file_links": [
                     *         {
                     *           "id": "lnk_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "name": "予算.xlsx",
                     *           "kind": "cloud",
                     *           "provider": "google_drive",
                     *           "origin": null,
                     *           "every": null,
                     *           "source": "予算.xlsx",
                     *           "versions": [
                     *             {
                     *               "n": 1,
                     *               "kind": "link",
                     *               "modified_by": "鈴木",
                     *               "modified": "2025-06-14T02:30:00Z",
                     *               "synced_at": "2025-06-14T02:30:00Z",
                     *               "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *             }
                     *           ],
                     *           "created_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["FileLinkList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    trackCloudFile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "provider": "google_drive",
                 *       "file_id": "1A2b3C4d5E",
                 *       "filename": "予算.xlsx"
                 *     }
                 */
                "application/json": components["schemas"]["TrackFileRequest"];
            };
        };
        responses: {
            /** @description The link. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "file_link": {
                     *         "id": "lnk_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "予算.xlsx",
                     *         "kind": "cloud",
                     *         "provider": "google_drive",
                     *         "origin": null,
                     *         "every": null,
                     *         "source": "予算.xlsx",
                     *         "versions": [
                     *           {
                     *             "n": 1,
                     *             "kind": "link",
                     *             "modified_by": "鈴木",
                     *             "modified": "2025-06-14T02:30:00Z",
                     *             "synced_at": "2025-06-14T02:30:00Z",
                     *             "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *           }
                     *         ],
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "changed": true,
                     *       "n": 1,
                     *       "artifacts": [
                     *         "予算"
                     *       ],
                     *       "conflicts": []
                     *     }
                     */
                    "application/json": components["schemas"]["FileLinkResult"];
                };
            };
            /** @description The ingest goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            501: components["responses"]["NotConfigured"];
            503: components["responses"]["Unavailable"];
        };
    };
    trackLocalFile: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
            };
            cookie?: never;
        };
        /** @description The file. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "(bytes of 予算.xlsx)",
                 *       "on_existing": "auto",
                 *       "origin": "C:\\経理\\予算.xlsx"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["TrackLocalForm"];
            };
        };
        responses: {
            /** @description The link. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "file_link": {
                     *         "id": "lnk_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "予算.xlsx",
                     *         "kind": "local",
                     *         "provider": null,
                     *         "origin": "C:\\経理\\予算.xlsx",
                     *         "every": null,
                     *         "source": "予算.xlsx",
                     *         "versions": [
                     *           {
                     *             "n": 1,
                     *             "kind": "link",
                     *             "modified_by": "鈴木",
                     *             "modified": "2025-06-14T02:30:00Z",
                     *             "synced_at": "2025-06-14T02:30:00Z",
                     *             "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *           }
                     *         ],
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "changed": true,
                     *       "n": 1,
                     *       "artifacts": [
                     *         "予算"
                     *       ],
                     *       "conflicts": []
                     *     }
                     */
                    "application/json": components["schemas"]["FileLinkResult"];
                };
            };
            /** @description The ingest goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            402: components["responses"]["OutOfCredits"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateFileLink: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Id of the file link.
                 * @example lnk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                link_id: components["parameters"]["PathLinkId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "every": "daily"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateFileLinkRequest"];
            };
        };
        responses: {
            /** @description The link after the change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "lnk_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "name": "予算.xlsx",
                     *       "kind": "cloud",
                     *       "provider": "google_drive",
                     *       "origin": null,
                     *       "every": "daily",
                     *       "source": "予算.xlsx",
                     *       "versions": [
                     *         {
                     *           "n": 1,
                     *           "kind": "link",
                     *           "modified_by": "鈴木",
                     *           "modified": "2025-06-14T02:30:00Z",
                     *           "synced_at": "2025-06-14T02:30:00Z",
                     *           "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *         }
                     *       ],
                     *       "created_at": "2025-06-14T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["FileLink"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    syncFileLink: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Id of the file link.
                 * @example lnk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                link_id: components["parameters"]["PathLinkId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "file_link": {
                     *         "id": "lnk_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "予算.xlsx",
                     *         "kind": "cloud",
                     *         "provider": "google_drive",
                     *         "origin": null,
                     *         "every": null,
                     *         "source": "予算.xlsx",
                     *         "versions": [
                     *           {
                     *             "n": 1,
                     *             "kind": "link",
                     *             "modified_by": "鈴木",
                     *             "modified": "2025-06-14T02:30:00Z",
                     *             "synced_at": "2025-06-14T02:30:00Z",
                     *             "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *           },
                     *           {
                     *             "n": 2,
                     *             "kind": "sync",
                     *             "modified_by": "鈴木",
                     *             "modified": "2025-06-14T05:00:00Z",
                     *             "synced_at": "2025-06-14T05:05:00Z",
                     *             "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B202"
                     *           }
                     *         ],
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "changed": true,
                     *       "n": 2,
                     *       "artifacts": [
                     *         "予算"
                     *       ],
                     *       "conflicts": []
                     *     }
                     */
                    "application/json": components["schemas"]["FileLinkResult"];
                };
            };
            /** @description The ingest goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            402: components["responses"]["OutOfCredits"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            501: components["responses"]["NotConfigured"];
            503: components["responses"]["Unavailable"];
        };
    };
    pushFileLinkVersion: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Id of the file link.
                 * @example lnk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                link_id: components["parameters"]["PathLinkId"];
            };
            cookie?: never;
        };
        /** @description The file. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": "(bytes of 予算.xlsx)",
                 *       "modified_by": "鈴木",
                 *       "modified_time": "2025-06-14T05:00:00Z"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["PushVersionForm"];
            };
        };
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "file_link": {
                     *         "id": "lnk_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "予算.xlsx",
                     *         "kind": "local",
                     *         "provider": null,
                     *         "origin": "C:\\経理\\予算.xlsx",
                     *         "every": null,
                     *         "source": "予算.xlsx",
                     *         "versions": [
                     *           {
                     *             "n": 1,
                     *             "kind": "link",
                     *             "modified_by": "鈴木",
                     *             "modified": "2025-06-14T02:30:00Z",
                     *             "synced_at": "2025-06-14T02:30:00Z",
                     *             "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *           },
                     *           {
                     *             "n": 2,
                     *             "kind": "sync",
                     *             "modified_by": "鈴木",
                     *             "modified": "2025-06-14T05:00:00Z",
                     *             "synced_at": "2025-06-14T05:05:00Z",
                     *             "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B202"
                     *           }
                     *         ],
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "changed": true,
                     *       "n": 2,
                     *       "artifacts": [
                     *         "予算"
                     *       ],
                     *       "conflicts": []
                     *     }
                     */
                    "application/json": components["schemas"]["FileLinkResult"];
                };
            };
            /** @description The ingest goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            402: components["responses"]["OutOfCredits"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getFileLinkCells: {
        parameters: {
            query?: {
                /** @description Sheet; default the first. An unknown one is 404. */
                sheet?: string;
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Cells a page, at most. */
                limit?: components["parameters"]["LimitCells"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Id of the file link.
                 * @example lnk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                link_id: components["parameters"]["PathLinkId"];
                /**
                 * @description Number of the file link version.
                 * @example 2
                 */
                n: components["parameters"]["PathVersionNumber"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cells. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sheet": "予算",
                     *       "sheets": [
                     *         "予算"
                     *       ],
                     *       "cells": [
                     *         {
                     *           "cell": "A1",
                     *           "value": "部門"
                     *         },
                     *         {
                     *           "cell": "B2",
                     *           "value": 1200
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["CellList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    diffFileLinkVersions: {
        parameters: {
            query?: {
                /** @description Version to compare with; default the previous one. An unknown one is 404. */
                against?: number;
                /** @description Changes listed, at most; beyond it `truncated` is true. */
                limit?: components["parameters"]["LimitChanges"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Id of the file link.
                 * @example lnk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                link_id: components["parameters"]["PathLinkId"];
                /**
                 * @description Number of the file link version.
                 * @example 2
                 */
                n: components["parameters"]["PathVersionNumber"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The differences. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "n": 2,
                     *       "against": 1,
                     *       "sheets": [
                     *         {
                     *           "sheet": "予算",
                     *           "status": "changed",
                     *           "changes": [
                     *             {
                     *               "cell": "B2",
                     *               "old": 1200,
                     *               "new": 1350
                     *             }
                     *           ],
                     *           "truncated": false
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["FileDiff"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    downloadFileLinkVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Id of the file link.
                 * @example lnk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                link_id: components["parameters"]["PathLinkId"];
                /**
                 * @description Number of the file link version.
                 * @example 2
                 */
                n: components["parameters"]["PathVersionNumber"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Content-Disposition": components["headers"]["ContentDisposition"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                    "application/vnd.ms-excel.sheet.macroEnabled.12": string;
                    "text/csv": string;
                    "text/tab-separated-values": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    revertFileLinkVersion: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Id of the file link.
                 * @example lnk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                link_id: components["parameters"]["PathLinkId"];
                /**
                 * @description Number of the file link version.
                 * @example 2
                 */
                n: components["parameters"]["PathVersionNumber"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The outcome. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "file_link": {
                     *         "id": "lnk_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *         "name": "予算.xlsx",
                     *         "kind": "cloud",
                     *         "provider": "google_drive",
                     *         "origin": null,
                     *         "every": null,
                     *         "source": "予算.xlsx",
                     *         "versions": [
                     *           {
                     *             "n": 1,
                     *             "kind": "link",
                     *             "modified_by": "鈴木",
                     *             "modified": "2025-06-14T02:30:00Z",
                     *             "synced_at": "2025-06-14T02:30:00Z",
                     *             "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *           },
                     *           {
                     *             "n": 2,
                     *             "kind": "sync",
                     *             "modified_by": "鈴木",
                     *             "modified": "2025-06-14T05:00:00Z",
                     *             "synced_at": "2025-06-14T05:05:00Z",
                     *             "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B202"
                     *           },
                     *           {
                     *             "n": 3,
                     *             "kind": "revert",
                     *             "modified_by": "鈴木",
                     *             "modified": "2025-06-14T02:30:00Z",
                     *             "synced_at": "2025-06-14T06:00:00Z",
                     *             "snapshot_id": "snp_01JXQ2V7M0Z8K4T5R6W9A1B203"
                     *           }
                     *         ],
                     *         "created_at": "2025-06-14T02:30:00Z"
                     *       },
                     *       "changed": true,
                     *       "n": 3,
                     *       "artifacts": [
                     *         "予算"
                     *       ],
                     *       "conflicts": []
                     *     }
                     */
                    "application/json": components["schemas"]["FileLinkResult"];
                };
            };
            /** @description The ingest goes on as a job. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    Location: components["headers"]["Location"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "job_id": "job_01JXQ2V7M0Z8K4T5R6W9A1B201"
                     *     }
                     */
                    "application/json": components["schemas"]["JobAccepted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDriveAuthorization: {
        parameters: {
            query?: {
                /** @description Workbook to come back to after authorization; an unknown one is 404. */
                workbook_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Drive provider.
                 * @example google_drive
                 */
                provider: components["parameters"]["PathProvider"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "provider": "google_drive",
                     *       "authorized": false,
                     *       "authorize_url": "https://accounts.example.com/o/oauth2/auth?state=Zm9v",
                     *       "account_email": null
                     *     }
                     */
                    "application/json": components["schemas"]["DriveAuthorization"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            501: components["responses"]["NotConfigured"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCloudFiles: {
        parameters: {
            query?: {
                /** @description Folder; default the root. An unknown one is 404. */
                folder_id?: string;
                /** @description Part of the name, looked for in the folder, and from the root in all of the drive. Only `google_drive` can search by name; elsewhere 422. */
                q?: string;
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit100"];
            };
            header?: never;
            path: {
                /**
                 * @description Drive provider.
                 * @example google_drive
                 */
                provider: components["parameters"]["PathProvider"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "files": [
                     *         {
                     *           "id": "0Bx",
                     *           "name": "決算",
                     *           "isFolder": true,
                     *           "mime_type": null,
                     *           "size": null,
                     *           "modified_at": "2025-06-14T02:30:00Z",
                     *           "modified_by": null
                     *         },
                     *         {
                     *           "id": "1A2b3C4d5E",
                     *           "name": "予算.xlsx",
                     *           "isFolder": false,
                     *           "mime_type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                     *           "size": 20480,
                     *           "modified_at": "2025-06-14T02:30:00Z",
                     *           "modified_by": "鈴木"
                     *         }
                     *       ],
                     *       "provider": "google_drive",
                     *       "folder_id": "root",
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["CloudFileList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            501: components["responses"]["NotConfigured"];
            503: components["responses"]["Unavailable"];
        };
    };
    finishDriveAuthorization: {
        parameters: {
            query: {
                /** @description Signed state of the authorization. */
                state: string;
                /** @description Code of the provider. */
                code?: string;
                /** @description Set by the provider when the user refused. */
                error?: string;
                /** @description Whatever else the provider adds; ignored. */
                extra?: {
                    [key: string]: string;
                };
            };
            header?: never;
            path: {
                /**
                 * @description Drive provider.
                 * @example google_drive
                 */
                provider: components["parameters"]["PathProvider"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page for the user. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>接続しました</title> */
                    "text/html": string;
                };
            };
            403: components["responses"]["Forbidden"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            501: components["responses"]["NotConfigured"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Kinds of event; all without it. */
                events?: components["schemas"]["EventKind"][];
                /** @description Events of this workbook alone. */
                workbook_id?: string;
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: {
                /** @description Id of the last event seen: go on after it. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "id": "evt_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "type": "artifact.updated",
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "workspace_id": "ws_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "actor": "佐藤",
                     *           "data": {
                     *             "artifact_id": "tbl_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *             "name": "売上明細",
                     *             "kind": "table",
                     *             "edit_version": 43
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["EventList"];
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["Gone"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhooks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhooks": [
                     *         {
                     *           "id": "whk_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "url": "https://hooks.example.co.jp/svc",
                     *           "events": [
                     *             "artifact.updated",
                     *             "job.completed"
                     *           ],
                     *           "status": "active",
                     *           "resource": "account",
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "previous_secret_expires_at": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.co.jp/svc",
                 *       "events": [
                 *         "artifact.updated",
                 *         "job.completed"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["CreateWebhookRequest"];
            };
        };
        responses: {
            /** @description The webhook, with its secret this once. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                     *       "id": "whk_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "url": "https://hooks.example.co.jp/svc",
                     *       "events": [
                     *         "artifact.updated",
                     *         "job.completed"
                     *       ],
                     *       "status": "active",
                     *       "resource": "account",
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "previous_secret_expires_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the webhook.
                 * @example whk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                webhook_id: components["parameters"]["PathWebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Opaque cursor from `next_cursor` of the page before. A cursor that was not given out by this list is 422. */
                cursor?: components["parameters"]["Cursor"];
                /** @description Entries a page, at most. */
                limit?: components["parameters"]["Limit50"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the webhook.
                 * @example whk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                webhook_id: components["parameters"]["PathWebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The deliveries. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deliveries": [
                     *         {
                     *           "id": "dlv_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "event_id": "evt_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "type": "artifact.updated",
                     *           "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *           "status": "delivered",
                     *           "attempts": 1,
                     *           "last_status": 204,
                     *           "last_error": null,
                     *           "next_attempt_at": null,
                     *           "created_at": "2025-06-14T02:30:00Z",
                     *           "delivered_at": "2025-06-14T02:30:00Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryList"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    redeliverEvent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the webhook.
                 * @example whk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                webhook_id: components["parameters"]["PathWebhookId"];
                /**
                 * @description Id of the delivery.
                 * @example dlv_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                delivery_id: components["parameters"]["PathDeliveryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery, pending again. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "dlv_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "event_id": "evt_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "type": "artifact.updated",
                     *       "workbook_id": "wb_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "status": "pending",
                     *       "attempts": 1,
                     *       "last_status": 204,
                     *       "last_error": null,
                     *       "next_attempt_at": "2025-06-14T02:30:00Z",
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "delivered_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the webhook.
                 * @example whk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                webhook_id: components["parameters"]["PathWebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "dlv_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "event_id": "evt_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "type": "webhook.test",
                     *       "workbook_id": null,
                     *       "status": "pending",
                     *       "attempts": 0,
                     *       "last_status": null,
                     *       "last_error": null,
                     *       "next_attempt_at": "2025-06-14T02:30:00Z",
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "delivered_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the webhook.
                 * @example whk_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                webhook_id: components["parameters"]["PathWebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook, with its new secret this once. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
                     *       "id": "whk_01JXQ2V7M0Z8K4T5R6W9A1B201",
                     *       "url": "https://hooks.example.co.jp/svc",
                     *       "events": [
                     *         "artifact.updated",
                     *         "job.completed"
                     *       ],
                     *       "status": "active",
                     *       "resource": "account",
                     *       "created_at": "2025-06-14T02:30:00Z",
                     *       "previous_secret_expires_at": "2025-06-15T02:30:00Z"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    openMcpStream: {
        parameters: {
            query?: never;
            header?: {
                /** @description Session id from the answer to `initialize`. */
                "Mcp-Session-Id"?: components["parameters"]["McpSessionId"];
                /** @description Protocol version agreed on at `initialize`. */
                "MCP-Protocol-Version"?: components["parameters"]["McpProtocolVersion"];
                /** @description Id of the last event of the stream that broke. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example event: message
                     *     data: {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
                     */
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    postMcp: {
        parameters: {
            query?: never;
            header?: {
                /** @description Session id from the answer to `initialize`. */
                "Mcp-Session-Id"?: components["parameters"]["McpSessionId"];
                /** @description Protocol version agreed on at `initialize`. */
                "MCP-Protocol-Version"?: components["parameters"]["McpProtocolVersion"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "jsonrpc": "2.0",
                 *       "id": 2,
                 *       "method": "tools/list",
                 *       "params": {}
                 *     }
                 */
                "application/json": components["schemas"]["JsonRpcMessage"];
            };
        };
        responses: {
            /** @description The response. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Mcp-Session-Id": components["headers"]["McpSessionId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "jsonrpc": "2.0",
                     *       "id": 2,
                     *       "result": {
                     *         "tools": [
                     *           {
                     *             "name": "query",
                     *             "description": "Run a read-only query",
                     *             "inputSchema": {
                     *               "type": "object"
                     *             }
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["JsonRpcMessage"];
                    /**
                     * @example event: message
                     *     data: {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description A notification or response was taken. No body. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    closeMcpSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Session id from the answer to `initialize`. */
                "Mcp-Session-Id"?: components["parameters"]["McpSessionId"];
                /** @description Protocol version agreed on at `initialize`. */
                "MCP-Protocol-Version"?: components["parameters"]["McpProtocolVersion"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session is ended. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getHome: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Workbook Data Service",
                     *       "version": "0.1.0",
                     *       "status": "ready",
                     *       "away": [],
                     *       "log_in": {
                     *         "sign_up": true,
                     *         "oidc": false
                     *       },
                     *       "links": {
                     *         "reference": "/docs",
                     *         "contract": "/openapi.json",
                     *         "guide": "/guide",
                     *         "temporal": "http://127.0.0.1:8233"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Home"];
                    "text/html": string;
                };
            };
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getConsoleAsset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description File name of a part of the page.
                 * @example swagger-ui.css
                 */
                asset: components["parameters"]["PathAsset"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    [name: string]: unknown;
                };
                content: {
                    "text/css": string;
                    "text/javascript": string;
                    "image/svg+xml": string;
                };
            };
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Alive. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok",
                     *       "version": "0.1.0"
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ready. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ready",
                     *       "checks": {
                     *         "database": "ok",
                     *         "blobs": "ok",
                     *         "temporal": "ok",
                     *         "queries": "ok",
                     *         "workers": "ok"
                     *       },
                     *       "notice": null
                     *     }
                     */
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The metrics. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example # HELP http_requests_total Requests
                     *     # TYPE http_requests_total counter
                     *     http_requests_total{status="200"} 412
                     */
                    "text/plain": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getContract: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The contract. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "openapi": "3.1.0"
                     *     }
                     */
                    "application/yaml": {
                        [key: string]: unknown;
                    };
                };
            };
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getContractJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The contract. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "openapi": "3.1.0"
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getGuide: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>Workbook Data Service</title> */
                    "text/html": string;
                };
            };
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getGuidePage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of a document.
                 * @example api
                 */
                page: components["parameters"]["PathGuidePage"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>API</title> */
                    "text/html": string;
                };
            };
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReference: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>Workbook Data Service</title> */
                    "text/html": string;
                };
            };
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    getReferenceAsset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description File name of a part of the page.
                 * @example swagger-ui.css
                 */
                asset: components["parameters"]["PathAsset"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                    "text/css": string;
                    "text/javascript": string;
                    "image/png": string;
                };
            };
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
    unbindSheet: {
        parameters: {
            query?: {
                /** @description Who is acting, as free text for the op log and the audit log. */
                actor?: components["parameters"]["ActorQuery"];
            };
            header?: {
                /**
                 * @description Makes a repeat safe: the same key with the same method, path and body answers with the first response for 24 hours,
                 *     marked `Idempotency-Replayed: true`; another request under the same key is 422 `idempotency-mismatch`; while the first
                 *     one still runs, 409 `idempotency-in-progress`.
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the workbook.
                 * @example wb_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                workbook_id: components["parameters"]["PathWorkbookId"];
                /**
                 * @description Name of the table, artifact, sheet, chart or transform, percent-encoded UTF-8. An unknown one is 404. A table may also be given by its `id`: that is how an archived one is reached whose name another table has.
                 * @example 売上明細
                 */
                name: components["parameters"]["PathName"];
                /**
                 * @description Id of the sync-binding.
                 * @example bnd_01JXQ2V7M0Z8K4T5R6W9A1B201
                 */
                binding_id: components["parameters"]["PathBindingId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The mapping is removed. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["XRequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["Internal"];
            503: components["responses"]["Unavailable"];
        };
    };
}
